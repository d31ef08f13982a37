"use strict";
// The inspector. Text from documents only ever becomes text nodes: this file sets no HTML.
// Positions from the server count characters; `unit` turns them into positions in JavaScript strings.
(() => {
  const $ = (id) => document.getElementById(id);
  const saved = $("data") && JSON.parse($("data").textContent); // an exported page has its data inside
  const COLOURS = 6;
  const LINE = 21; // the height of a line, to guess the height of what is not drawn yet
  const LONG = 2e5; // characters; of a longer document the chunks around the view come first, then all
  const ABOUT = {
    packed: "As much of one section, with its subsections, as fits the cap.",
    flow: "Blocks in order within a strict range, with overlap.",
    sections: "One section each; small ones join, large ones are cut.",
    tree: "One heading with its own text, never split, never merged.",
  };
  const LABELS = {
    max_tokens: "Cap", target_tokens: "Target", min_tokens: "Minimum",
    merge_siblings: "Siblings may share a chunk", max_depth: "Deepest heading", overlap_sentences: "Overlap, sentences",
    normalize: "Normalise white space", guard: "Chunks not worth embedding", tokenizer: "Tokenizer",
    breadcrumb_mode: "Breadcrumb",
  };
  const SMALL = { max_depth: [1, 6], overlap_sentences: [0, 10] };

  let start; // what the server said first: strategies, defaults, the top of the tree
  let doc = null; // the document on display, with the tables made by `prepare`
  let cuts = []; // the cut of each side
  const known = new Map(); // recent cuts by their request
  const state = { doc: null, pasted: null, sides: [], side: 0, isChanged: false, q: "", line: 0, chunk: null, clicked: null };
  let marks = []; // the query's words in the document

  // Elements

  function el(tag, attributes = {}, ...children) {
    const svg = tag.startsWith("svg:");
    const node = svg ? document.createElementNS("http://www.w3.org/2000/svg", tag.slice(4)) : document.createElement(tag);
    for (const [name, value] of Object.entries(attributes)) {
      if (name.startsWith("on")) node.addEventListener(name.slice(2), value);
      else if (value === true) node.setAttribute(name, "");
      else if (value !== false && value !== null && value !== undefined) node.setAttribute(name, value);
    }
    node.append(...children.flat().filter((child) => child !== null && child !== false && child !== undefined));
    return node;
  }
  const number = new Intl.NumberFormat("en").format;
  const plural = (value, noun) => `${number(value)} ${noun}${value === 1 ? "" : "s"}`;
  const say = (text) => { $("status").textContent = text; };

  // Calls

  async function call(name, asked = {}, signal) {
    if (saved) return savedAnswer(name, asked);
    const answer = await fetch(`api/${name}`, {
      method: "POST", headers: { "Content-Type": "application/json" }, body: JSON.stringify(asked), signal,
    }).catch((error) => { throw error.name === "AbortError" ? error : new Error("quire web is not running any more."); });
    const value = await answer.json().catch(() => ({ error: `the server answered ${answer.status}` }));
    if (!answer.ok || value.error) throw Object.assign(new Error(value.error), { option: value.option });
    return value;
  }

  function savedAnswer(name, asked) {
    if (name === "start") return { ...saved.start, documents: 1, first: "saved" };
    if (name === "document") return { ...saved.document, defaults: saved.start.defaults };
    if (name === "cut") return saved.cuts[asked.strategy];
    if (name === "verify") return saved.cuts[asked.strategy].violations;
    if (name === "chunk") return saved.records[asked.strategy][asked.chunk];
    throw new Error("This page was saved; quire web can do more.");
  }

  const source = () => (state.pasted ? { text: state.pasted.text, path: state.pasted.path } : { document: state.doc });
  const request = (side) => ({ ...source(), strategy: side.strategy, options: side.options });

  // The address: document, options of both sides, query

  function readAddress() {
    const given = new URLSearchParams(location.hash.slice(1));
    const sides = [];
    for (const [mark, name] of [["", "s"], ["b.", "b"]]) {
      if (!given.has(name) || !start.strategies[given.get(name)]) continue;
      const side = { strategy: given.get(name), options: {} };
      for (const [key, value] of given) {
        const option = mark ? key.slice(mark.length) : key;
        if (key.startsWith(mark) && option in LABELS && isValid(side.strategy, option)) side.options[option] = typed(value);
      }
      sides.push(side);
    }
    return {
      doc: given.get("doc"), sides, q: given.get("q") || "", line: Number(given.get("line")) || 0,
      chunk: given.has("chunk") ? Number(given.get("chunk")) : null,
    };
  }

  function address(changes = {}) {
    const { doc: name, sides, q, line, chunk } = { ...state, ...changes };
    const given = new URLSearchParams();
    if (name) given.set("doc", name);
    if (state.isChanged) sides.forEach((side, index) => {
      given.set(index ? "b" : "s", side.strategy);
      for (const [option, value] of Object.entries(side.options)) {
        if (option in LABELS) given.set(index ? `b.${option}` : option, value);
      }
    });
    if (q) given.set("q", q);
    if (line) given.set("line", line);
    if (chunk !== null && chunk !== undefined) given.set("chunk", chunk);
    return `#${given.toString().replaceAll("%2F", "/")}`;
  }

  const saveAddress = () => history.replaceState(null, "", address());
  const typed = (value) => (value === "true" ? true : value === "false" ? false : /^\d+$/.test(value) ? Number(value) : value);
  const isValid = (strategy, option) => option in start.strategies[strategy] || start.common.includes(option);

  function defaultSide(defaults, strategy) {
    const { strategy: own, ...options } = defaults;
    const chosen = strategy || own;
    return { strategy: chosen, options: Object.fromEntries(Object.entries(options).filter(([name]) => isValid(chosen, name))) };
  }

  // The document

  function prepare(record) {
    const text = record.text;
    const lines = [0];
    for (const end of text.matchAll(/\r\n|\r|\n/g)) lines.push(end.index + end[0].length);
    const wide = []; // characters that take two units
    for (const pair of text.matchAll(/[\ud800-\udbff][\udc00-\udfff]/g)) wide.push(pair.index - wide.length);
    doc = { ...record, lines, wide };
    doc.blocks = record.blocks.map(([kind, from, to]) => [kind, unit(from), unit(to)]);
    doc.bodyStart = unit(record.bodyStart);
  }

  // How many of the ascending `values` are below `value`.
  function below(values, value, at = (each) => each) {
    let low = 0, high = values.length;
    while (low < high) {
      const middle = (low + high) >> 1;
      if (at(values[middle]) < value) low = middle + 1; else high = middle;
    }
    return low;
  }
  const unit = (position) => (doc.wide.length ? position + below(doc.wide, position) : position);
  const character = (position) => position - doc.wide.filter((wide, index) => wide + index < position).length; // as the server counts
  const lineAt = (position) => below(doc.lines, position + 1); // from 1
  const isBlank = (from, to) => !doc.text.slice(from, to).trim();

  function kindAt(position) {
    const index = below(doc.blocks, position + 1, (block) => block[1]) - 1;
    return index >= 0 && position < doc.blocks[index][2] ? doc.blocks[index][0] : "";
  }

  // The lines of a span; a span that starts inside a line continues it.
  function lineNodes(from, to) {
    const nodes = [];
    for (let row = lineAt(from) - 1; row < doc.lines.length && doc.lines[row] < to; row++) {
      const first = Math.max(doc.lines[row], from), last = Math.min(doc.lines[row + 1] ?? doc.text.length, to);
      const kind = kindAt(first);
      const node = el("div", { class: `line${kind ? ` ${kind}` : ""}${first > doc.lines[row] ? " rest" : ""}`, "data-n": row + 1 });
      node.append(...marked(first, last));
      nodes.push(node);
    }
    return nodes;
  }

  // The lines in a box, which the keyboard can scroll if code or a table is wider than it.
  let widest = 100; // characters; measured once per drawing, as measuring makes the browser lay out the page
  function lineBox(from, to) {
    const nodes = lineNodes(from, to);
    const isWide = nodes.some((node) => node.matches(".code, .table") && node.textContent.length > widest);
    return el("div", { class: "lines", ...(isWide ? { tabindex: 0, role: "group", "aria-label": "Wide lines" } : {}) }, nodes);
  }

  function marked(from, to) {
    const clean = (first, last) => doc.text.slice(first, last).replace(/[\r\n]+$/, "");
    const inside = [];
    for (let index = below(marks, from + 1, (mark) => mark[1]); index < marks.length && marks[index][0] < to; index++) inside.push(marks[index]);
    if (!inside.length) return [clean(from, to)];
    const parts = [];
    let done = from;
    for (const [first, last] of inside) {
      parts.push(doc.text.slice(done, Math.max(first, done)), el("mark", {}, doc.text.slice(Math.max(first, from), Math.min(last, to))));
      done = Math.min(last, to);
    }
    return [...parts, clean(done, to)];
  }

  // Drawing only what is near the view: a part is empty until `fill`, then the rest follows while the page is idle.

  let waiting = [];
  const observer = new IntersectionObserver((entries) => {
    for (const entry of entries) if (entry.isIntersecting) fill(entry.target);
  }, { root: $("text"), rootMargin: "1200px 0px" });

  function part(node, from, to, draw, extra = 0) {
    const rows = Math.max(1, lineAt(Math.max(from, to - 1)) - lineAt(from) + 1, Math.ceil((to - from) / 90));
    node.span = [from, to];
    node.draw = draw;
    node.height = rows * LINE + extra;
    node.style.minHeight = `${node.height}px`;
    node.style.containIntrinsicBlockSize = `auto ${node.style.minHeight}`;
    return node;
  }

  function fill(node) {
    if (!node.draw) return;
    node.append(...node.draw());
    node.draw = null;
    node.style.minHeight = "";
    observer.unobserve(node);
  }

  function fillScreen(parts, first) {
    for (let index = first, drawn = 0; index < parts.length && drawn < innerHeight; index++) {
      drawn += parts[index].height;
      fill(parts[index]);
    }
  }

  function show(parts) {
    observer.disconnect();
    widest = ($("body").clientWidth - 100) / 8;
    $("body").replaceChildren(...parts);
    waiting = parts.filter((node) => node.draw);
    for (const node of waiting) observer.observe(node);
    fillScreen(waiting, 0);
    idle();
  }

  const whenIdle = window.requestIdleCallback || ((task) => setTimeout(() => task({ timeRemaining: () => 8 }), 50));
  function idle() {
    const parts = waiting;
    let next = 0;
    const work = (deadline) => {
      if (parts !== waiting) return;
      while (next < parts.length && deadline.timeRemaining() > 3) fill(parts[next++]);
      if (next < parts.length) whenIdle(work);
    };
    whenIdle(work);
  }

  // What the reader sees at the top, to stay there when the bands change.
  function viewedPosition() {
    const main = $("text"), box = main.getBoundingClientRect();
    if (main.scrollTop < 8) return null;
    for (const node of $("body").children) {
      const bounds = node.getBoundingClientRect();
      if (!node.span || bounds.bottom < box.top + 8) continue;
      const line = [...node.querySelectorAll(".line")].find((each) => each.getBoundingClientRect().bottom > box.top + 8);
      return line ? { line: Number(line.dataset.n), top: line.getBoundingClientRect().top - box.top } : null;
    }
    return null;
  }

  function lineNode(line) {
    const position = doc.lines[Math.min(line, doc.lines.length) - 1];
    const parts = [...$("body").children].filter((node) => node.span);
    const index = Math.max(below(parts, position + 1, (each) => each.span[0]) - 1, 0), node = parts[index];
    if (!node) return null;
    fillScreen(parts, index);
    const found = [...node.querySelectorAll(".line")];
    return found.find((each) => Number(each.dataset.n) >= line) || found.at(-1) || node;
  }

  function restore(view) {
    const node = view && lineNode(view.line);
    if (!node) return;
    const main = $("text");
    main.scrollTop += node.getBoundingClientRect().top - main.getBoundingClientRect().top - view.top;
  }

  function jump(line) {
    const node = lineNode(line);
    if (!node) return;
    showPane("text");
    node.scrollIntoView({ block: "center" });
    node.classList.remove("flash");
    void node.offsetWidth; // so that the animation starts again
    node.classList.add("flash");
    say(`Line ${line}`);
  }

  // Bands

  // A row from the server, with names.
  function chunkOf(cut, index) {
    const [from, to, first, last, tokens, embedded, breadcrumb, crumb, overlap, opening, closing, own] = cut.chunks[index];
    return { index, from, to, first, last, tokens, embedded, breadcrumb, crumb, overlap, opening, closing, own };
  }

  // The span that a cut covers: everything, or what is around the view.
  const isPart = () => cuts.some((cut) => cut.part);
  const covered = (cut) => (cut.part ? cut.part.map(unit) : [0, doc.text.length]);

  // Chunks and what is between them, in positions of the string.
  function segments(cut) {
    const found = [], [begin, end] = covered(cut);
    let done = begin;
    cut.chunks.forEach(([from, to], index) => {
      const first = unit(from), last = unit(to);
      if (first > done) found.push({ from: done, to: first, chunk: -1 });
      found.push({ from: first, to: last, chunk: index });
      done = Math.max(done, last);
    });
    if (done < end) found.push({ from: done, to: end, chunk: -1 });
    return found;
  }

  // Text without bands.
  function plain(begin, end) {
    const parts = [];
    for (let row = lineAt(begin) - 1; begin < end && row < doc.lines.length && doc.lines[row] < end; row += 60) {
      const from = Math.max(doc.lines[row], begin), to = Math.min(doc.lines[row + 60] ?? doc.text.length, end);
      parts.push(part(el("div", { class: "gap" }), from, to, () => lineNodes(from, to)));
    }
    return parts;
  }

  function drawBands() {
    const cut = cuts[0], [begin, end] = covered(cut);
    const found = segments(cut).map(({ from, to, chunk }) => (chunk < 0 ? gap(from, to, cut) : band(from, to, cut, chunk)));
    show([...plain(0, begin), ...found, ...plain(end, doc.text.length)]);
    if (state.chunk !== null && !cut.part) mark(state.chunk);
  }

  function gap(from, to, cut) {
    if (isBlank(from, to)) return el("div", { class: "space" });
    const title = to <= doc.bodyStart ? "front matter, kept as metadata" : cut.strategy === "tree" ? "" : "not in a chunk";
    const draw = () => [title && el("p", { class: "note" }, title), ...lineNodes(from, to)].filter(Boolean);
    return part(el("div", { class: "gap" }), from, to, draw, title ? 24 : 0);
  }

  function band(from, to, cut, index) {
    const node = el("section", { class: `band c${index % COLOURS}` });
    node.chunk = index;
    return part(node, from, to, () => {
      const chunk = chunkOf(cut, index);
      return [label(cut, chunk), lineBox(from, to)];
    }, 36);
  }

  const heard = (text) => el("span", { class: "hidden" }, text); // for screen readers
  const shortCrumb = (line) => line.replace(/^> /, "");
  const linesOf = (chunk) => (chunk.first === chunk.last ? `line ${chunk.first}` : `lines ${chunk.first}–${chunk.last}`);

  function addedNames(chunk) {
    const names = [];
    if (chunk.crumb) names.push("breadcrumb");
    if (chunk.overlap) names.push("overlap");
    for (const [text, name] of [[chunk.opening, "opening"], [chunk.closing, "closing"]]) {
      if (text) names.push(/[`~]{3}/.test(text) ? "fence" : text.includes("|") ? "table header" : name);
    }
    return [...new Set(names)];
  }

  function label(cut, chunk) {
    const cap = cut.limits.cap;
    const meter = el("span", { class: "meter" }, el("span"));
    if (cap) meter.firstChild.style.width = `${Math.min(100, (100 * chunk.embedded) / cap)}%`;
    const names = addedNames(chunk);
    return el("button", {
      type: "button", class: "label", tabindex: chunk.index === (state.chunk ?? 0) ? 0 : -1,
    },
    el("span", { class: "no" }, heard("Chunk "), numberOf(cut, chunk.index)),
    el("span", { class: "crumb" }, shortCrumb(chunk.breadcrumb)),
    names.length ? el("span", { class: "plus" }, `+ ${names.join(", ")}`) : null,
    cap ? meter : null,
    el("span", { class: "size" }, number(chunk.embedded), heard(` tokens, ${linesOf(chunk)}`)));
  }

  const numberOf = (cut, index) => (cut.part?.[0] ? "…" : String(index)); // in the middle it is not known yet
  const bandOf = (index) => [...$("body").children].find((node) => node.chunk === index);

  function mark(index) {
    for (const node of $("body").querySelectorAll(".band.chosen")) node.classList.remove("chosen");
    for (const button of $("body").querySelectorAll(".label[tabindex='0']")) button.tabIndex = -1;
    const node = bandOf(index);
    if (!node) return null;
    fill(node);
    node.classList.add("chosen");
    node.querySelector(".label").tabIndex = 0;
    return node;
  }

  function choose(index, { scroll = false, focus = false } = {}) {
    const cut = cuts[state.side] || cuts[0];
    if (!cut || index < 0 || index >= cut.chunks.length) return;
    if (cut.part) { state.clicked = cut.chunks[index][0]; return; } // shown when all chunks are there
    state.chunk = index;
    saveAddress();
    const node = mark(index);
    if (node && scroll) reveal(node);
    if (node && focus) node.querySelector(".label").focus({ preventScroll: true });
    drawChunk(index, state.side);
  }

  // Scroll to the top of a band, unless most of it is in view.
  function reveal(node) {
    const main = $("text"), box = main.getBoundingClientRect(), bounds = node.getBoundingClientRect();
    const isSeen = bounds.top >= box.top && (bounds.bottom <= box.bottom || bounds.top < box.top + box.height / 2);
    if (!isSeen) main.scrollTop += bounds.top - box.top - box.height / 6;
  }

  // The record of a chunk

  let asked = 0;
  async function drawChunk(index, side = 0) {
    const cut = cuts[side] || cuts[0], chosen = state.sides[side] || state.sides[0];
    if (!cut || index === null || index >= cut.chunks.length) return drawNoChunk();
    const chunk = chunkOf(cut, index), turn = ++asked;
    const own = chunk.own ?? doc.text.slice(unit(chunk.from), unit(chunk.to));
    const addition = (text, name) => text && el("ins", { title: name }, text);
    const embed = el("pre", { class: "embed", tabindex: 0, "aria-label": "Text to embed" },
      addition(chunk.crumb, "breadcrumb"), addition(chunk.overlap, "overlap"), addition(chunk.opening, "opening"),
      el("span", { class: "own" }, own), addition(chunk.closing, "closing"));
    const facts = [
      ["Tokens", `${number(chunk.tokens)}, to embed ${number(chunk.embedded)}`],
      ["Place", `${linesOf(chunk)}, characters ${number(chunk.from)}–${number(chunk.to)}`],
      ["Added", addedText(chunk)],
    ];
    const record = el("pre", { class: "record", tabindex: 0, "aria-label": "Record" }, "…");
    const step = (to, text, name) => el("button", {
      type: "button", class: "quiet", "aria-label": name, disabled: to < 0 || to >= cut.chunks.length,
      onclick: () => choose(to, { scroll: true }),
    }, text);
    $("chunk").replaceChildren(
      el("div", { class: "chunk-head" },
        el("h2", {}, `Chunk ${index}`, el("small", {}, ` of ${cut.chunks.length}, ${cut.strategy}`)),
        el("span", {}, step(index - 1, "↑", "Previous chunk"), step(index + 1, "↓", "Next chunk"))),
      el("p", { class: "crumbs" }, shortCrumb(chunk.breadcrumb)),
      el("dl", { class: "facts" }, facts.flatMap(([name, value]) => [el("dt", {}, name), el("dd", {}, value)])),
      el("div", { class: "title-row" }, el("h3", {}, "Text to embed"), copyButton(() => embed.textContent)),
      embed,
      el("p", { class: "legend" }, el("ins", {}, "marked"), " text is added by quire; the rest is the document's own."),
      el("details", {}, el("summary", {}, "Record as JSON"), record, copyButton(() => record.textContent)),
    );
    showTab("chunk");
    try {
      const found = await call("chunk", { ...request(chosen), chunk: index });
      if (turn !== asked) return;
      const whole = embed.textContent;
      const order = { id: found.id, embedText: whole, originalText: whole.slice(chunk.crumb.length), ...found };
      record.textContent = JSON.stringify(order, null, 2);
    } catch (error) { record.textContent = error.message; }
  }

  function addedText(chunk) {
    const parts = [["breadcrumb", chunk.crumb], ["overlap", chunk.overlap], ["opening", chunk.opening], ["closing", chunk.closing]];
    const named = parts.filter(([, text]) => text).map(([name, text]) => `${name}, ${plural(text.length, "character")}`);
    return [...named, ...(chunk.own !== null ? ["white space normalised"] : [])].join("; ") || "nothing";
  }

  function drawNoChunk() {
    $("chunk").replaceChildren(el("p", { class: "empty" }, "Click a chunk in the text to see its record and the text to embed."));
  }

  function copyButton(text) {
    const button = el("button", { type: "button", class: "quiet copy" }, "Copy");
    button.addEventListener("click", async () => {
      try {
        await navigator.clipboard.writeText(text());
        button.textContent = "Copied";
      } catch { button.textContent = "Cannot copy"; }
      setTimeout(() => { button.textContent = "Copy"; }, 1500);
    });
    return button;
  }

  // The card beside the pointer

  let cardTimer;
  function card(node, x, y) {
    const cut = cuts[Number(node.dataset.side || 0)];
    if (!cut || node.chunk === undefined || node.chunk < 0) return hideCard();
    const chunk = chunkOf(cut, node.chunk);
    const cap = cut.limits.cap ? ` of at most ${number(cut.limits.cap)}` : "";
    $("card").replaceChildren(
      el("strong", {}, shortCrumb(chunk.breadcrumb) || "Chunk"),
      el("span", {}, `${number(chunk.tokens)} tokens; to embed ${number(chunk.embedded)}${cap}`),
      el("span", {}, `${linesOf(chunk)}, characters ${number(chunk.from)}–${number(chunk.to)}`),
      el("span", {}, `Added: ${addedText(chunk)}`));
    $("card").hidden = false;
    const box = $("card").getBoundingClientRect();
    $("card").style.left = `${Math.max(8, Math.min(x + 14, innerWidth - box.width - 8))}px`;
    $("card").style.top = `${y + 18 + box.height > innerHeight ? y - box.height - 10 : y + 18}px`;
  }
  function hideCard() { clearTimeout(cardTimer); $("card").hidden = true; }

  const chunkNode = (target) => target.closest?.(".band, .rail");
  $("body").addEventListener("pointermove", (event) => {
    hideCard();
    const node = event.pointerType === "mouse" && !event.buttons && chunkNode(event.target);
    if (node) cardTimer = setTimeout(card, 250, node, event.clientX, event.clientY);
  });
  $("body").addEventListener("pointerleave", hideCard);
  $("text").addEventListener("scroll", hideCard, { passive: true });
  $("body").addEventListener("focusin", (event) => {
    const node = chunkNode(event.target);
    if (!node || !event.target.matches(":focus-visible")) return;
    const box = event.target.getBoundingClientRect();
    card(node, box.left, box.bottom - 12);
  });
  $("body").addEventListener("focusout", hideCard);
  $("body").addEventListener("click", (event) => {
    const node = chunkNode(event.target);
    if (!node || node.chunk === undefined || node.chunk < 0 || String(getSelection())) return;
    hideCard();
    if (node.matches(".rail")) { state.side = Number(node.dataset.side); drawOptions(); }
    choose(node.chunk, { focus: event.target.closest(".label") !== null });
    if (narrow()) showPane("panel");
  });

  // Two cuts side by side

  // Where the owner of the text changes; blank text belongs to the chunk before it.
  function changes(cut) {
    const found = [];
    for (const { from, to, chunk } of segments(cut)) {
      if (chunk < 0 && isBlank(from, to)) continue;
      if (to > from) found.push({ from, chunk });
    }
    return found;
  }

  function drawComparison() {
    const sides = cuts.map(changes);
    const starts = [...new Set(sides.flat().map((each) => each.from))].sort((a, b) => a - b);
    const owners = sides.map((side) => new Map(side.map((each) => [each.from, each.chunk])));
    const current = [-1, -1];
    const counts = [0, 0, 0];
    const [begins, ends] = [0, 1].map((edge) => cuts.map((cut) => covered(cut)[edge]));
    const begin = Math.min(...begins), end = Math.max(...ends);
    const parts = starts.map((from, row) => {
      const to = starts[row + 1] ?? end;
      const cutHere = owners.map((side) => side.has(from));
      owners.forEach((side, index) => { if (side.has(from)) current[index] = side.get(from); });
      const kind = cutHere[0] && cutHere[1] ? "both" : cutHere[0] ? "only-a" : "only-b";
      if (row) counts[["both", "only-a", "only-b"].indexOf(kind)] += 1;
      const chunks = [...current];
      const node = el("div", { class: `row ${row ? kind : "both"}` });
      return part(node, from, to, () => [
        rail(0, chunks[0], cutHere[0], row && kind === "only-a"),
        lineBox(from, to),
        rail(1, chunks[1], cutHere[1], row && kind === "only-b"),
      ], 6);
    });
    show([...plain(0, begin), ...parts, ...plain(end, doc.text.length)]);
    const spans = cuts.map((cut) => new Set(cut.chunks.map(([from, to]) => `${from}-${to}`)));
    return { counts, same: [...spans[0]].filter((each) => spans[1].has(each)).length };
  }

  function rail(side, chunk, isFirst, isDifferent) {
    const cut = cuts[side];
    const row = chunk >= 0 ? chunkOf(cut, chunk) : null;
    const node = el(isFirst && row ? "button" : "div", { class: `rail ${row ? `c${chunk % COLOURS}` : "none"}`, "data-side": side });
    if (row) node.chunk = chunk;
    if (isFirst && row) {
      node.type = "button";
      node.append(el("span", { class: "no" }, heard(`${cut.strategy} `), numberOf(cut, chunk)),
        el("span", { class: "size" }, number(row.embedded), heard(" tokens")));
      if (isDifferent) node.append(el("span", { class: "differs" }, `only ${cut.strategy}`));
    }
    return node;
  }

  let difference = -1;
  function nextDifference(step) {
    const rows = [...$("body").querySelectorAll(".row.only-a, .row.only-b")];
    if (!rows.length) return;
    const top = $("text").getBoundingClientRect().top + 120;
    const from = rows[difference] ? difference : rows.findIndex((row) => row.getBoundingClientRect().top > top) - (step > 0 ? 1 : 0);
    difference = Math.max(0, Math.min(rows.length - 1, from + step));
    fill(rows[difference]);
    rows[difference].scrollIntoView({ block: "center" });
    for (const row of rows) row.classList.toggle("flash", row === rows[difference]);
    say(`Difference ${difference + 1} of ${rows.length}`);
  }

  // The head of the document

  function drawHead(comparison) {
    const name = state.pasted ? "pasted text" : saved ? doc.path : state.doc;
    const cut = cuts[0];
    const back = state.q && el("a", { class: "back", href: address({ doc: null, line: 0, chunk: null }) }, `← Results for “${state.q}”`);
    const sizes = cut ? cut.chunks.map((row) => row[5]).sort((a, b) => a - b) : [];
    const summary = cut && el("p", { class: "summary" },
      isPart() ? "Counting …" : [el("b", {}, number(sizes.length)), sizes.length === 1 ? " chunk, " : " chunks, ",
      el("b", {}, number(sizes.reduce((sum, each) => sum + each, 0))), " tokens to embed",
      sizes.length ? `, median ${number(sizes[sizes.length >> 1])}` : ""]);
    const toggle = el("button", {
      type: "button", class: "quiet", "aria-pressed": String(state.sides.length > 1), id: "compare", onclick: toggleComparison,
    }, "Compare");
    $("head").replaceChildren(
      ...[back, el("h1", {}, doc.title || name),
        el("p", { class: "meta" }, `${name} · ${plural(doc.lines.length, "line")} · ${plural(doc.text.length, "character")}`),
        el("div", { class: "summary-row" }, comparison && !isPart() ? comparisonSummary(comparison) : summary, comparison && arrows(), toggle)].filter(Boolean));
    document.title = `${doc.title || name} · quire`;
  }

  const arrows = () => el("span", { class: "arrows" },
    el("button", { type: "button", class: "quiet", "aria-label": "Previous difference", onclick: () => nextDifference(-1) }, "↑"),
    el("button", { type: "button", class: "quiet", "aria-label": "Next difference", onclick: () => nextDifference(1) }, "↓"));

  function comparisonSummary({ counts: [both, a, b], same }) {
    const [first, second] = state.sides.map((side) => side.strategy);
    return el("div", { class: "compared" },
      el("p", { class: "summary" }, el("b", {}, `${first}, ${number(cuts[0].chunks.length)}`), " beside ",
        el("b", {}, `${second}, ${number(cuts[1].chunks.length)}`), `: ${plural(same, "chunk")} the same`),
      el("p", { class: "cuts" }, el("span", { class: "both" }, `${plural(both, "cut")} in both`),
        el("span", { class: "only-a" }, `${number(a)} only in ${first}`), el("span", { class: "only-b" }, `${number(b)} only in ${second}`)));
  }

  function toggleComparison() {
    state.isChanged = true;
    if (state.sides.length > 1) { state.sides.length = 1; state.side = 0; } else {
      const other = state.sides[0].strategy === "flow" ? "packed" : "flow";
      state.sides.push(defaultSide(doc.defaults, other));
      state.side = 1;
    }
    state.chunk = null;
    showTab("options");
    drawNoChunk();
    redraw();
  }

  // Options

  function drawOptions(problem) {
    if (!doc) return;
    const side = state.sides[state.side], cut = !isPart() && cuts[state.side];
    const focused = document.activeElement?.id;
    const own = Object.keys(start.strategies[side.strategy]);
    const pairs = state.sides.length > 1 && el("div", { class: "sides", role: "group", "aria-label": "Which side to change" },
      state.sides.map((each, index) => el("button", {
        type: "button", "aria-pressed": String(index === state.side), onclick: () => { state.side = index; drawOptions(); },
      }, `${index ? "Right" : "Left"}: ${each.strategy}`)));
    const strategies = el("fieldset", { class: "strategies" }, el("legend", {}, "Strategy"),
      Object.keys(start.strategies).map((name) => el("label", {},
        el("input", {
          type: "radio", name: "strategy", value: name, id: `s-${name}`, checked: name === side.strategy,
          onchange: () => setStrategy(name),
        }), el("span", {}, name))));
    const controls = own.concat(["breadcrumb_mode", "tokenizer"]).map((name) => control(side, name, problem));
    $("options").replaceChildren(...[
      pairs, strategies, el("p", { class: "about" }, ABOUT[side.strategy] || ""),
      saved ? el("p", { class: "about" }, "This page was saved with these options. ", el("code", {}, "quire web"), " can change them.")
        : el("div", { class: "controls" }, controls),
      problem && !own.concat(["breadcrumb_mode", "tokenizer"]).includes(problem.option) ? el("p", { class: "problem", role: "alert" }, problem.message) : null,
      !saved && Object.keys(side.options).length ? el("button", { type: "button", class: "quiet", onclick: reset }, "Back to the defaults") : null,
      el("h2", {}, "Sizes"), cut ? histogram(cut) : el("figure", { class: "histogram" }),
      el("h2", {}, "Checks"), el("div", { id: "laws", class: "laws" }, "…"),
      el("h2", {}, "Findings"), cut ? findingList(cut) : el("p", { class: "none-found" }, "…"),
      el("h2", {}, "On the command line"), commandLine(side),
    ].filter(Boolean));
    if (focused && $("options").querySelector(`#${CSS.escape(focused)}`)) $(focused).focus({ preventScroll: true });
  }

  function effective(side, name) {
    const cut = cuts[state.sides.indexOf(side)];
    if (name in side.options) return side.options[name];
    if (cut && cut.strategy === side.strategy && name in cut.options) return cut.options[name];
    return start.strategies[side.strategy][name] ?? "";
  }

  function control(side, name, problem) {
    const value = effective(side, name), id = `o-${name}`, text = LABELS[name] || name;
    const wrong = problem && problem.option === name;
    const set = (to) => setOption(name, to);
    const described = { "aria-invalid": wrong ? "true" : null, "aria-describedby": wrong ? `${id}-problem` : null };
    const error = wrong && el("span", { class: "problem", id: `${id}-problem`, role: "alert" }, problem.message);
    const choices = name === "tokenizer" ? [...new Set([...start.tokenizers, value])] : start.choices[name];
    if (choices) {
      return el("div", { class: "control" }, el("label", { for: id }, text),
        el("select", { id, ...described, onchange: (event) => set(event.target.value) },
          choices.map((each) => el("option", { value: each, selected: each === value }, each))), error);
    }
    if (typeof value === "boolean") {
      return el("div", { class: "control check" },
        el("input", { type: "checkbox", id, checked: value, onchange: (event) => set(event.target.checked) }), el("label", { for: id }, text));
    }
    const [least, most] = SMALL[name] || [name === "min_tokens" ? 0 : 32, Math.max(2048, Number(value) || 0)];
    const field = el("input", { type: "number", id, min: least, max: SMALL[name] ? most : null, value, ...described });
    const slider = el("input", { type: "range", id: `${id}-range`, min: least, max: most, value, "aria-label": `${text}, slider` });
    field.addEventListener("input", () => { if (field.value) { slider.value = field.value; set(Number(field.value)); } });
    slider.addEventListener("input", () => { field.value = slider.value; set(Number(slider.value)); });
    return el("div", { class: "control" }, el("label", { for: id }, text), field, slider, error);
  }

  function setStrategy(name) {
    const before = state.sides[state.side];
    state.isChanged = true;
    const kept = Object.entries(before.options).filter(([option]) => start.common.includes(option));
    state.sides[state.side] = { strategy: name, options: saved ? {} : Object.fromEntries(kept) };
    state.chunk = null;
    drawNoChunk();
    redraw();
  }

  function setOption(name, value) {
    state.isChanged = true;
    state.sides[state.side].options[name] = value;
    state.chunk = null;
    redraw({ keepControls: true });
  }

  function reset() {
    state.sides[state.side] = { strategy: state.sides[state.side].strategy, options: {} };
    redraw();
  }

  function histogram(cut) {
    const sizes = cut.chunks.map((row) => row[5]), { minimum, target, cap } = cut.limits;
    const W = 300, H = 110, BASE = H - 18;
    const most = Math.max(cap || 0, ...sizes.slice(0, 1), sizes.reduce((a, b) => Math.max(a, b), 0), 16) * 1.04;
    const bins = new Array(26).fill(0);
    for (const size of sizes) bins[Math.min(bins.length - 1, Math.floor((size / most) * bins.length))] += 1;
    const top = Math.max(...bins, 1), width = W / bins.length;
    const bars = bins.map((count, index) => count && el("svg:rect", {
      x: index * width + 1, width: width - 2, y: BASE - (count / top) * (BASE - 14), height: (count / top) * (BASE - 14), rx: 1.5, class: "column",
    }, el("svg:title", {}, `${plural(count, "chunk")} of ${Math.ceil((index * most) / bins.length)}–${Math.floor(((index + 1) * most) / bins.length)} tokens`)));
    const limits = [["minimum", minimum], ["target", target], ["cap", cap]].filter(([, value]) => value);
    const lines = limits.map(([name, value]) => el("svg:line", { x1: (value / most) * W, x2: (value / most) * W, y1: 4, y2: BASE, class: `limit ${name}` }));
    const keys = limits.map(([name, value]) => el("span", { class: `key ${name}` }, `${name} ${number(value)}`));
    const text = `${plural(sizes.length, "chunk")}${limits.map(([name, value]) => `, ${name} ${value}`).join("")}`;
    return el("figure", { class: "histogram" },
      el("svg:svg", { viewBox: `0 0 ${W} ${H}`, role: "img", "aria-label": `Sizes of ${text}` },
        el("svg:line", { x1: 0, x2: W, y1: BASE, y2: BASE, class: "axis" }), bars, lines,
        el("svg:text", { x: 0, y: H - 5, class: "tick" }, "0"),
        el("svg:text", { x: W, y: H - 5, class: "tick", "text-anchor": "end" }, `${number(Math.round(most))} tokens`)),
      keys.length ? el("figcaption", {}, keys) : el("figcaption", {}, "This strategy has no cap."));
  }

  function findingList(cut) {
    const found = [...doc.findings, ...cut.findings];
    if (!found.length) return el("p", { class: "none-found" }, "None.");
    const item = ([line, code, message]) => el("li", {},
      line ? el("button", { type: "button", class: "jump", onclick: () => jump(line) }, `line ${number(line)}`) : null,
      el("span", {}, message, " ", el("code", {}, code)));
    const more = found.length > 100 && el("li", {}, `and ${number(found.length - 100)} more`);
    return el("ul", { class: "findings" }, found.slice(0, 100).map(item), more);
  }

  let lawsTimer;
  function checkLaws() {
    clearTimeout(lawsTimer);
    const side = state.sides[state.side], place = $("laws");
    place?.classList.add("unchecked");
    lawsTimer = setTimeout(async () => {
      try {
        const broken = await call("verify", request(side));
        if (!place?.isConnected) return;
        place.classList.remove("unchecked");
        const cut = cuts[state.side], cap = cut?.limits.cap;
        const capped = cap && cut.chunks.every((row) => row[5] <= cap) ? ", nothing over the cap" : "";
        place.replaceChildren(...(broken.length ? [findingList({ findings: broken })]
          : [el("span", { class: "ok", "aria-hidden": "true" }, "✓"), ` Nothing lost, nothing altered${capped}.`]));
      } catch (error) { if (place?.isConnected) place.textContent = error.message; }
    }, doc.text.length > 3e5 ? 1500 : 400); // checking takes as long as cutting, and the next change is more urgent
  }

  function commandLine(side) {
    const flags = Object.entries(side.options).filter(([name]) => name in LABELS).map(([name, value]) => {
      const flag = name === "breadcrumb_mode" ? "--breadcrumb" : `--${name.replaceAll("_", "-")}`;
      return value === true ? flag : value === false ? flag.replace("--", "--no-") : `${flag} ${value}`;
    });
    const path = doc.file || doc.path;
    const quoted = /^[\w./-]+$/.test(path) ? path : `'${path.replaceAll("'", "'\\''")}'`;
    const words = [`-s ${side.strategy}`, ...flags].flatMap((flag) => [" ", el("span", { class: "flag" }, flag)]);
    const line = el("code", {}, `quire chunk ${quoted}`, words);
    return el("div", { class: "command" }, line, copyButton(() => line.textContent));
  }

  // Drawing everything again

  let drawing = null, again = null;
  function redraw(how = {}) {
    saveAddress();
    if (drawing) { again = how; return drawing; } // one cut at a time; the last change wins
    drawing = (async () => {
      let next = how;
      while (next) {
        again = null;
        await drawOnce(next);
        next = again;
      }
    })().finally(() => { drawing = null; });
    return drawing;
  }

  async function cutOf(side, near) {
    const asked = request(side), key = JSON.stringify([doc.version, asked.document, asked.path, side]);
    if (known.has(key)) return known.get(key);
    const cut = await call("cut", doc.text.length > LONG ? { ...asked, near } : asked);
    if (cut.version !== doc.version) throw Object.assign(new Error("The document has changed."), { stale: true });
    if (!cut.part) known.set(key, cut);
    if (known.size > 12) known.delete(known.keys().next().value);
    return cut;
  }

  async function cutsOf(near) {
    const made = [];
    for (const side of state.sides) made.push(await cutOf(side, near));
    return made;
  }

  const drawProblem = (error) => (error.stale ? void load() : drawOptions(error));

  let wholeTimer;
  function forgetWhole() { clearTimeout(wholeTimer); wholeTimer = 0; }
  async function drawOnce({ keepControls = false, line = 1 } = {}) {
    forgetWhole();
    clearTimeout(lawsTimer);
    const view = viewedPosition();
    try {
      cuts = await cutsOf(character(doc.lines[(view?.line || line) - 1] ?? 0));
    } catch (error) { return drawProblem(error); }
    difference = -1;
    const comparison = cuts.length > 1 ? drawComparison() : drawBands();
    $("text").classList.toggle("comparing", cuts.length > 1);
    document.body.classList.toggle("waiting", isPart());
    drawHead(comparison);
    restore(view);
    if (view) requestAnimationFrame(() => restore(view)); // once the heights near the view are known
    if (keepControls && document.activeElement?.closest(".controls")) refreshFigures(); else drawOptions();
    const clicked = cuts[state.side].chunks.findIndex(([from]) => from === state.clicked);
    state.clicked = null;
    if (isPart()) { wholeTimer = setTimeout(drawWhole, 200); return; }
    checkLaws();
    if (clicked >= 0) state.chunk = clicked;
    if (state.chunk !== null && cuts.length === 1) choose(state.chunk, { scroll: true });
    say(`${plural(cuts[0].chunks.length, "chunk")}`);
  }

  // All chunks of a long document, unless another change comes first.
  async function drawWhole() {
    const timer = wholeTimer;
    try {
      await cutsOf();
      if (timer === wholeTimer) redraw({ keepControls: true });
    } catch (error) { if (timer === wholeTimer) drawProblem(error); }
  }

  // The figures only: a control that somebody drags must stay.
  function refreshFigures() {
    const cut = cuts[state.side], side = state.sides[state.side];
    if (!isPart()) $("options").querySelector(".histogram")?.replaceWith(histogram(cut));
    if (!isPart()) $("options").querySelector(".findings, .none-found")?.replaceWith(findingList(cut));
    $("options").querySelector(".command")?.replaceWith(commandLine(side));
    for (const problem of $("options").querySelectorAll(".problem")) problem.remove();
    for (const field of $("options").querySelectorAll("[aria-invalid]")) field.removeAttribute("aria-invalid");
    for (const name of Object.keys(start.strategies[side.strategy])) { // a lower cap lowers the others
      const field = $(`o-${name}`);
      if (field && field.type === "number" && field !== document.activeElement) {
        field.value = effective(side, name);
        const slider = $(`o-${name}-range`);
        if (slider !== document.activeElement) slider.value = field.value;
      }
    }
  }

  // Opening a document

  let loading = null;
  async function load() {
    forgetWhole();
    loading?.abort();
    loading = new AbortController();
    const { signal } = loading;
    document.body.classList.remove("searching");
    $("text").setAttribute("aria-busy", "true");
    try {
      const record = await call("document", source(), signal);
      if (signal.aborted) return;
      prepare(record);
      if (!state.isChanged) state.sides = [defaultSide(record.defaults)];
      state.side = Math.min(state.side, state.sides.length - 1);
      cuts = [];
      marks = [];
      const marking = marksOf();
      if (lastResults?.found) marks = await marking; // else the first search may take a while
      show(plain(0, doc.text.length));
      drawHead();
      $("text").scrollTop = 0;
      if (state.chunk === null) drawNoChunk();
      await redraw({ line: state.line || 1 });
      if (state.line) jump(state.line);
      const found = await marking;
      if (!signal.aborted && found.length > marks.length) { marks = found; await redraw(); }
    } catch (error) {
      if (error.name !== "AbortError") drawError(error);
    } finally { $("text").removeAttribute("aria-busy"); }
    markTree();
  }

  function drawError(error) {
    doc = null;
    $("head").replaceChildren(el("h1", {}, "That did not work"));
    show([el("p", { class: "problem", role: "alert" }, error.message)]);
  }

  async function marksOf() {
    if (!state.q || state.pasted) return [];
    const found = await results(state.q).catch(() => ({ hits: [] }));
    return found.hits.filter((hit) => hit.document === state.doc && hit.complete)
      .flatMap((hit) => hit.matches.map(([from, to]) => [unit(hit.start + from), unit(hit.start + to)]))
      .sort((a, b) => a[0] - b[0]).filter(([from], index, all) => !index || from >= all[index - 1][1]);
  }

  // Search

  let lastResults = null;
  async function results(query) {
    if (lastResults?.query !== query) {
      const asked = { query, answer: call("search", { text: query }) };
      lastResults = asked;
      asked.found = await asked.answer;
    }
    return lastResults.answer;
  }

  async function drawSearch() {
    doc = null;
    forgetWhole();
    loading?.abort();
    $("text").classList.remove("comparing");
    document.body.classList.add("searching");
    clearTimeout(lawsTimer);
    $("head").replaceChildren(el("h1", {}, "Searching …"), el("p", { class: "meta" }, "The first search reads all documents."));
    show([]);
    document.title = `${state.q} · quire`;
    try {
      const query = state.q, found = await results(query);
      if (state.q !== query || state.doc) return;
      const count = found.hits.length;
      $("head").replaceChildren(el("h1", {}, count ? `${plural(count, "result")} for “${query}”` : `Nothing found for “${query}”`),
        ...found.notes.map((note) => el("p", { class: "meta" }, note)));
      show(found.hits.map(hitCard));
      $("text").scrollTop = 0;
      say(plural(count, "result"));
    } catch (error) { lastResults = null; drawError(error); }
  }

  function hitCard(hit, index) {
    const link = address({ doc: hit.document, line: hit.lines[0], chunk: null });
    const score = el("span", { class: "meter" }, el("span"));
    score.firstChild.style.width = `${Math.min(100, hit.score * 100)}%`;
    const how = { match: "matched by itself", parent: "replaces matches below it", aggregated: "replaces its sections" }[hit.how] || hit.how;
    return el("article", { class: "hit" },
      el("h2", {}, el("span", { class: "rank" }, String(index + 1)), hit.document ? el("a", { href: link }, hit.title) : hit.title),
      hit.breadcrumb.length > 1 ? el("p", { class: "crumbs" }, hit.breadcrumb.join(" › ")) : null,
      el("p", { class: "meta" }, el("span", {}, `${hit.document || hit.id}:${hit.lines[0]}–${hit.lines[1]}`),
        el("span", {}, plural(hit.tokens, "token")), el("span", { class: "score" }, score, hit.score < 0.01 ? "score below 0.01" : `score ${hit.score.toFixed(2)}`), el("span", {}, how)),
      snippet(hit),
      el("details", { open: index === 0 }, el("summary", {}, "Why it is here"),
        el("div", { class: "why" },
          el("ol", { class: "headings", "aria-label": "Headings around the result" }, hit.tree.map(headingRow)),
          el("ul", { class: "reasons" }, hit.reasons.map((reason) => el("li", {}, reason))))));
  }

  function headingRow(node) {
    const tag = node.role === "result" ? "result" : node.role === "match" ? "merged into the result" : "";
    const row = el("li", { class: `${node.role}${node.matched ? " matched" : ""}` }, el("span", { class: "dot", "aria-hidden": "true" }),
      el("span", { class: "name" }, node.title), tag && el("span", { class: "tag" }, node.matched && node.role === "result" ? "result, matched" : tag));
    row.style.setProperty("--depth", node.depth);
    return row;
  }

  // The lines around the first words, then all of the text.
  function snippet(hit) {
    const text = hit.text, points = [...text].length === text.length ? null : Array.from(text);
    const at = (position) => (points ? points.slice(0, position).join("").length : position);
    const spans = hit.matches.map(([from, to]) => [at(from), at(to)]);
    const lines = [];
    let from = 0;
    for (const line of text.split("\n")) { lines.push([from, from + line.length]); from += line.length + 1; }
    const hot = lines.findIndex(([first, last], row) => row && spans.some(([from]) => from >= first && from <= last));
    const isEmpty = hot > 0 && lines[hot - 1][0] === lines[hot - 1][1];
    const begin = Math.max(0, isEmpty ? hot : hot - 1), end = Math.min(lines.length, begin + 9);
    const pre = el("pre", { class: "snippet", tabindex: 0, "aria-label": `Text of ${hit.title}` });
    const draw = (low, high) => {
      const [a, b] = [lines[low][0], lines[high - 1][1]];
      const parts = [];
      let done = a;
      for (const [x, y] of spans) {
        if (y <= a || x >= b) continue;
        parts.push(text.slice(done, x), el("mark", {}, text.slice(x, y)));
        done = y;
      }
      pre.replaceChildren(...parts, text.slice(done, b));
    };
    draw(begin, end);
    if (begin === 0 && end === lines.length) return pre;
    const more = el("button", { type: "button", class: "quiet", onclick: () => { draw(0, lines.length); more.remove(); } }, `Show all ${lines.length} lines`);
    return el("div", {}, pre, more);
  }

  // The tree of documents: folders are asked for when they are opened

  const link = (key, text) => el("a", { class: "document", href: address({ doc: key, q: "", line: 0, chunk: null }), "data-key": key }, text);

  function listing(path, found, level = 0) {
    const items = found.folders.map(([name, count]) => {
      const inside = path ? `${path}/${name}` : name;
      const button = el("button", {
        type: "button", class: "folder", "aria-expanded": "false", "data-folder": inside,
        onclick: () => (button.getAttribute("aria-expanded") === "true" ? close(button) : open(button)),
      }, el("span", { class: "name" }, name), el("span", { class: "count" }, number(count)));
      return el("li", {}, button);
    });
    const documents = found.documents.map((name) => el("li", {}, link(path ? `${path}/${name}` : name, name)));
    const more = found.more ? [el("li", { class: "more" }, `${number(found.more)} more; use the filter`)] : [];
    return el("ul", { class: level ? "inner" : "" }, items, documents, more);
  }
  async function open(button) {
    button.setAttribute("aria-expanded", "true");
    if (button.nextElementSibling) { button.nextElementSibling.hidden = false; return; }
    try {
      const found = await call("folder", { text: button.dataset.folder });
      if (!button.nextElementSibling) button.after(listing(button.dataset.folder, found, 1));
      markTree();
    } catch (error) { say(error.message); }
  }
  function close(button) {
    button.setAttribute("aria-expanded", "false");
    if (button.nextElementSibling) button.nextElementSibling.hidden = true;
  }

  async function drawTree() {
    const text = $("filter").value.trim();
    if (text) {
      const found = await call("filter", { text });
      if ($("filter").value.trim() !== text) return;
      const items = found.documents.map((key) => el("li", {}, link(key, key)));
      if (found.more) items.push(el("li", { class: "more" }, `${number(found.more)} more`));
      $("tree").replaceChildren(items.length ? el("ul", { class: "found" }, items) : el("p", { class: "empty" }, "No document has such a name."));
    } else {
      $("tree").replaceChildren(start.documents ? listing("", start.root) : el("p", { class: "empty" }, "No documents here. Paste your own."));
      await openTo(state.doc);
    }
    markTree();
  }

  // Files may have come or gone since the server started; a large folder takes a moment to look through.
  async function refreshTree() {
    const found = await call("refresh");
    if (found.documents === start.documents) return;
    Object.assign(start, found);
    await drawTree();
    if (!doc && !state.q) route();
  }

  async function openTo(key) {
    const folders = (key || "").split("/").slice(0, -1);
    for (let depth = 1; depth <= folders.length; depth++) {
      const button = $("tree").querySelector(`[data-folder="${CSS.escape(folders.slice(0, depth).join("/"))}"]`);
      if (!button) return;
      if (button.getAttribute("aria-expanded") !== "true") await open(button);
    }
  }

  function markTree() {
    for (const each of $("tree").querySelectorAll("a.document")) {
      const isHere = each.dataset.key === state.doc;
      if (isHere) each.setAttribute("aria-current", "page"); else each.removeAttribute("aria-current");
    }
  }

  let filterTimer;
  $("filter").addEventListener("input", () => { clearTimeout(filterTimer); filterTimer = setTimeout(drawTree, 60); });
  $("documents").addEventListener("keydown", (event) => {
    if (event.key !== "ArrowDown" && event.key !== "ArrowUp") return;
    const items = [...$("documents").querySelectorAll("#filter, #tree button, #tree a")].filter((each) => each.offsetParent);
    const next = items[items.indexOf(document.activeElement) + (event.key === "ArrowDown" ? 1 : -1)];
    if (next) { next.focus(); event.preventDefault(); }
  });

  // Pasting and dropping

  function usePasted(text, path) {
    state.pasted = { text: text.toWellFormed ? text.toWellFormed() : text, path };
    Object.assign(state, { doc: null, q: "", line: 0, chunk: null });
    $("query").value = "";
    showPane("text");
    saveAddress();
    load();
  }
  $("paste").addEventListener("click", () => { $("paste-dialog").showModal(); $("pasted").focus(); });
  $("paste-dialog").addEventListener("close", () => {
    if ($("paste-dialog").returnValue === "cut" && $("pasted").value.trim()) usePasted($("pasted").value, "pasted.md");
  });
  addEventListener("dragover", (event) => { event.preventDefault(); document.body.classList.add("dropping"); });
  addEventListener("dragleave", (event) => { if (!event.relatedTarget) document.body.classList.remove("dropping"); });
  addEventListener("drop", async (event) => {
    event.preventDefault();
    document.body.classList.remove("dropping");
    if (saved) return;
    const file = event.dataTransfer.files[0];
    if (file && file.size > 16e6) return drawError(new Error(`${file.name} is larger than 16 MB; use quire chunk.`));
    const text = file ? await file.text() : event.dataTransfer.getData("text/plain");
    if (text) usePasted(text, file ? file.name : "pasted.md");
  });

  // Panes, tabs, theme, keys

  const narrow = () => matchMedia("(max-width: 900px)").matches;
  function showPane(name) {
    document.body.dataset.pane = name;
    for (const button of document.querySelectorAll(".panes button")) {
      if (button.dataset.pane === name) button.setAttribute("aria-current", "true"); else button.removeAttribute("aria-current");
    }
  }
  for (const button of document.querySelectorAll(".panes button")) button.addEventListener("click", () => showPane(button.dataset.pane));

  function showTab(name) {
    for (const each of ["options", "chunk"]) {
      $(each).hidden = each !== name;
      $(`tab-${each}`).setAttribute("aria-selected", String(each === name));
      $(`tab-${each}`).tabIndex = each === name ? 0 : -1;
    }
  }
  for (const each of ["options", "chunk"]) {
    $(`tab-${each}`).addEventListener("click", () => showTab(each));
    $(`tab-${each}`).addEventListener("keydown", (event) => {
      if (event.key !== "ArrowLeft" && event.key !== "ArrowRight") return;
      const other = each === "options" ? "chunk" : "options";
      showTab(other);
      $(`tab-${other}`).focus();
    });
  }

  function setTheme(theme) {
    if (theme) document.documentElement.dataset.theme = theme;
    try { if (theme) localStorage.setItem("quire-theme", theme); } catch { /* a saved page may have no storage */ }
  }
  function toggleTheme() {
    const dark = document.documentElement.dataset.theme
      ? document.documentElement.dataset.theme === "dark" : matchMedia("(prefers-color-scheme: dark)").matches;
    setTheme(dark ? "light" : "dark");
  }
  try { setTheme(localStorage.getItem("quire-theme")); } catch { /* as above */ }
  $("theme").addEventListener("click", toggleTheme);
  $("help").addEventListener("click", () => $("help-dialog").showModal());
  document.querySelector(".skip").addEventListener("click", (event) => { event.preventDefault(); $("text").focus(); });

  $("search").addEventListener("submit", (event) => {
    event.preventDefault();
    const query = $("query").value.trim();
    if (!query) return;
    state.pasted = null;
    showPane("text");
    location.hash = address({ doc: null, q: query, line: 0, chunk: null });
  });

  function stepChunk(by) {
    if (cuts[0] && state.sides.length === 1) choose(state.chunk === null ? (by > 0 ? 0 : cuts[0].chunks.length - 1) : state.chunk + by, { scroll: true, focus: true });
  }
  const KEYS = {
    "/": () => $("query").focus(), f: () => { showPane("documents"); $("filter").focus(); },
    j: () => stepChunk(1), k: () => stepChunk(-1), c: () => doc && toggleComparison(),
    n: () => nextDifference(1), p: () => nextDifference(-1), t: toggleTheme, v: () => !saved && $("paste").click(),
    "?": () => $("help-dialog").showModal(),
  };
  addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey || document.querySelector("dialog[open]")) return;
    const typing = event.target.offsetParent && event.target.matches(":read-write, select");  // a hidden field keeps the focus for a frame
    if (event.key === "Escape") {
      hideCard();
      if (typing) event.target.blur();
      showPane("text");
      showTab("options");
      $("text").focus();
      return;
    }
    if (typing) return;
    const strategy = Object.keys(start?.strategies || {})[Number(event.key) - 1];
    if (strategy && doc) setStrategy(strategy); else if (KEYS[event.key]) KEYS[event.key](); else return;
    event.preventDefault();
  });

  // The beginning

  async function route() {
    const given = readAddress();
    const isNew = given.doc !== state.doc || (given.doc && state.pasted) || given.q !== state.q || !doc;
    if (state.pasted && !given.doc && !given.q) return;
    if (given.doc || given.q) state.pasted = null;
    Object.assign(state, { doc: given.doc, q: given.q, line: given.line, chunk: given.chunk });
    if (given.sides.length) Object.assign(state, { sides: given.sides, isChanged: true, side: Math.min(state.side, given.sides.length - 1) });
    $("query").value = state.q;
    if (!state.doc && state.q) return drawSearch();
    if (!state.doc) state.doc = start.first;
    if (!state.doc) {
      $("head").replaceChildren(el("h1", {}, "No documents here"));
      return show([el("p", { class: "empty" }, "Paste or drop your own Markdown.")]);
    }
    showPane("text");
    markTree();
    if (!isNew) { await redraw(); if (state.line) jump(state.line); return; }
    await load();
    openTo(state.doc);
  }

  (async () => {
    document.body.classList.toggle("saved", Boolean(saved));
    showPane("text");
    drawNoChunk();
    try {
      start = await call("start");
      state.sides = [];
      if (!saved) drawTree();
      await route();
      addEventListener("hashchange", route);
      if (!saved) refreshTree();
    } catch (error) { drawError(error); }
  })();
})();

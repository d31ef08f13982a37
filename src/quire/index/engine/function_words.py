"""Function words: words such as *how* and *the*, which may be missing from a match if the query has other words."""

from functools import cache, lru_cache

import tantivy

from quire.index.engine.analysis import NONE, terms

_ENGLISH = (
    "a about after all also am an and any are as at be because been being between both but by can cannot could did "
    "difference differences do does doing done during each else ever every explain explained explains few for from "
    "get gets getting had happen happens has have having he her here hers him his how however i if in into is "
    "isn it its itself just let ll may me might mine more most much must my myself need of off on once one only or "
    "other our ours out over own per please re same shall she should so some such tell than that the their theirs "
    "them then there these they this those through to too under until up upon us use used using ve versus very via vs "
    "want wants was way we were what whats when where whether which while who whom whose why will with within would "
    "aren couldn didn doesn don hasn haven shouldn wasn won wouldn "
    "yet you your yours documentation docs guide guides learn page pages section sections see "
)
"""Includes words of questions (*explain*, *vs*) and of links to documents (*guide*, *page*)."""

COMPARISONS = frozenset({"versus", "vs"})  # function words unless they come first: *vs code* is a name

_OTHERS = {
    "arabic": (
        "كيف يمكن يمكنني لماذا أين متى من ما ماذا هل أي كم لا لم لن في على إلى عن مع بين هذا هذه ذلك تلك التي "
        "الذي و أو ثم أن إن أنا هو هي كل بعد قبل عند"
    ),
    "danish": "hvordan hvorfor hvornår hvem hvilken hvilket hvilke kan må mellem",
    "dutch": "hoe waarom waar wanneer welke welk hoeveel mag tussen kun waarmee",
    "finnish": "miten voin milloin kuinka paljonko pitää voiko onko kumpi miksi mihin",
    "french": (
        "comment pourquoi où quand quoi combien lequel laquelle lesquels lesquelles faire fait faut faut-il peut "
        "peut-on peux puis puis-je dois dois-je doit veux entre a a-t-il chez vers sous sans ça cela est-ce "
        "différence différences est sont"
    ),
    "german": (
        "warum wann wer wieso weshalb wofür wozu womit woher wohin wodurch gibt bitte wieviel wieviele viel viele "
        "unterschied"
    ),
    "greek": (
        "πώς γιατί πού πότε ποιος ποια ποιο ποιοι ποιες τι πόσο πόσα πόσοι μπορώ πρέπει να θα δεν μη και ή ο η το "
        "οι τα του της των τον την με σε για από στο στη στον στην στα ένα ένας μια είναι έχω έχει που ότι μου "
        "σου αυτό"
    ),
    "hungarian": "hogyan miért hol melyik mennyi hány mik hova honnan",
    "italian": "come perché quando cosa quale quali qual posso può devo deve fra tra differenza",
    "norwegian": "hvordan hvorfor hvilken hvilket hvilke må",
    "portuguese": (
        "como porque porquê onde quando quanto quantos quanta quantas quais posso pode devo deve é diferença"
    ),
    "romanian": (
        "cum de ce unde când cine care cât câtă câți câte pot poate trebuie să nu și sau cu pe la din în pentru "
        "un o al ai ale a este sunt se că mai între fără după"
    ),
    "russian": "почему какие какое каких сколько нужно надо откуда чей который которая которые которое",
    "spanish": (
        "cómo dónde cuándo quién quiénes cuál cuáles cuánto cuántos cuánta cuántas puedo puede debo debe hay diferencia"
    ),
    "swedish": "hur varför ska måste bör hurdan",
    "tamil": ("எப்படி ஏன் எங்கே எப்போது யார் என்ன எது எந்த எத்தனை எவ்வளவு ஒரு இந்த அந்த மற்றும் அல்லது இது அது நான் என்று"),
    "turkish": (
        "nasıl neden niçin niye nerede nereden nereye ne zaman kim kime hangi kaç mı mi mu mü mıdır midir ve veya "
        "ile için bu şu o da de bir ben sen var yok gibi daha çok"
    ),
}
"""Words missing from the engine's stop words."""

_WITHOUT_STOP_WORDS = ("arabic", "greek", "romanian", "tamil", "turkish")  # languages for which the engine has none


@lru_cache(maxsize=4_096)
def is_function_word(word: str, languages: tuple[str, ...]) -> bool:
    """Whether a word is a function word in any of the languages."""
    lead, _, rest = word.lower().replace("’", "'").partition("'")
    # The first part decides for *it's* and *d'un*, the second for *l'index*.
    decisive = rest if len(rest) > len("'s") else lead
    return any(_is_listed(decisive, language) for language in languages if language != NONE)


def _is_listed(word: str, language: str) -> bool:
    if language == "english":
        return word in _words(language)
    is_stop_word = language not in _WITHOUT_STOP_WORDS and bool(word) and not _stop_word_filter(language).analyze(word)
    return is_stop_word or _without_accents(word) in _words(language)


@cache
def _words(language: str) -> frozenset[str]:
    return frozenset(_ENGLISH.split() if language == "english" else map(_without_accents, _OTHERS[language].split()))


def _without_accents(word: str) -> str:
    return "-".join(terms(word, NONE))


@cache
def _stop_word_filter(language: str) -> tantivy.TextAnalyzer:
    return tantivy.TextAnalyzerBuilder(tantivy.Tokenizer.raw()).filter(tantivy.Filter.stopword(language)).build()

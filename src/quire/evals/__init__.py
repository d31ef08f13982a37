"""How well documents answer questions (``quire eval``): ``questions`` are asked, ``outcomes`` give ``figures``."""

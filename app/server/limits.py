"""Every limit of the server, in one place.

Bytes and pixels of a picture: ``dga/data/uploads.py``; values of a request:
``app/runs/settings.py``.
"""

BUDGET_SECONDS = 120.0  # of a run

# The queue (app/server/fair_queue.py)
MAX_WAITING = 16
MAX_SECONDS = 36.0  # of runs before one's own, as long as they took so far
FEW_WAITING = 4  # may wait however long that is
MAX_PER_ADDRESS = 12  # a class behind one address; the last places are for others
MAX_PER_VISITOR = 4
MAX_IDLE = 64  # sessions without a run, whose messages wait to be collected
MAX_UNREAD = 1000  # messages of one session; the longest run has 400
MAX_SESSIONS = 100  # of Gradio's, half a megabyte each

# Uploads (app/server/upload_folder.py)
FOLDER_BYTES = 2**30
ADDRESS_BYTES = 2**28  # of one address at once, and as many again within an hour
KEPT_MINUTES = 60  # by then the files are gone
MAX_OWN = 16  # own pictures on a board
PHOTO_PIXELS = 1_000_000  # of a whole photograph; a larger one is reduced
MAX_PHOTOS = 16  # whole photographs in memory, 10 MB each
MAX_STROKES = 12  # of the brush, of 64 points each

# Work outside the queue (app/server/turns.py)
PATIENCE = 10.0  # seconds for a turn; the slowest picture takes four
MOST_TAKEN = 60.0  # seconds of turns that one address may owe
REPAID = 0.25  # of every second

# Requests (app/server/gate.py)
SPARE = 2**20  # of a body beside the picture in it
MAX_POSTS = 64  # of one address at a time
MAX_REQUESTS = 512  # of one address at a time; an open page holds two
MAX_DIRECT = 4  # pages, and as many calls without the queue, made for one address at a time
MAX_MADE = 32  # pages that are kept as they were made, a quarter of a megabyte each
MAX_FILES = 8  # of one upload; each gets a folder
MAX_QUERY = 2**10  # bytes
LEAST = 2**16  # bytes that an upload counts at least, for its files' folders
BODY_SECONDS = 30.0  # for the next piece of a body, and for the whole of one in JSON
MAX_VALUES = 10_000  # commas and brackets in JSON; a board's question has 200
MAX_DEPTH = 32  # of JSON
MAX_DIGITS = 40  # of a number
MAX_NAME = 255  # bytes between two slashes of an address: a file's name is no longer
MCP_BYTES = 4 * 2**20  # as much as the protocol's own server takes
JSON_BYTES = 2**16  # of values; more would keep the others waiting while it is read

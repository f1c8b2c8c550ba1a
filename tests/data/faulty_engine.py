"""A Hub engine that goes wrong in the way its argument names, and plays 11-15 where it does not.

Its version is its process id, so that a test can see whether it is gone.
"""

import os
import signal
import sys
import time

FAULT = sys.argv[1]
VARIANTS = {"other-game": "normal killer", "two-games": "normal english"}


def say(text: str, end: str = "\n") -> None:
    sys.stdout.write(text + end)
    sys.stdout.flush()


def die(code: int, last_words: str) -> None:
    print("something before", last_words, sep="\n", file=sys.stderr, flush=True)
    os._exit(code)


def chatter() -> None:
    while True:
        say("info depth=1")


def introduce() -> None:
    if FAULT == "mute":
        return
    while FAULT == "floods-params":
        say(f"param name={time.monotonic_ns()} value={5_000 * 'x'}")
    if FAULT == "babbles":
        say('Welcome to my = "engine\n\n\x00 = = =\nid\nparam\nid name')
    name = "\x1b[2J" * 10_000 if FAULT == "long-name" else "faulty engine"
    say(f'id name="{name}" version={os.getpid()}')
    if FAULT in VARIANTS:
        say(f'param name=variant value=normal type=enum values="{VARIANTS[FAULT]}"')
    say("param name=book value=true type=bool\nparam name=ponder value=true type=bool")
    say("param name=seed value=0 type=int\nwait")


def play(count: int) -> None:
    match FAULT:
        case "dies-in-mid-game" if count == 2:
            die(7, "out of ideas")
        case "kills-itself":
            os.kill(os.getpid(), signal.SIGKILL)
        case "nonsense":
            say("done move=banana")
        case "illegal":
            say("done move=21-17")
        case "reports":
            say('error message="I have lost "my" book"')
        case "closes":
            os.close(1)
            time.sleep(60)
        case "stalls" | "stubborn":
            time.sleep(60)
        case "stops":
            while True:  # it may be told once to go on
                os.kill(os.getpid(), signal.SIGSTOP)
        case "floods":
            chatter()
        case "many-forks":
            for _ in range(100):
                if not os.fork():
                    break
            time.sleep(60)
        case "claims":
            say('done result=1-0 score=1 message="I have won"')
        case "huge-line":
            for _ in range(100):
                say("x" * 100_000, end="")
            say("\ndone move=11-15")
        case "endless-line":
            while True:
                say("x" * 1000, end="")
        case "in-pieces":
            for piece in ("in", "fo depth=1\ndo", "ne mo", "ve=11-15", "\n"):
                say(piece, end="")
                time.sleep(0.02)
        case "chatters":
            sys.stderr.write("e" * 1_000_000)
            sys.stdout.write("info depth=1\n" * 100_000)
            say("done move=11-15")
            say("done move=12-16")
        case _:
            say('  done  move = "11-15" ponder=24-20 new-thing')


if FAULT == "stubborn":
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
if FAULT == "dies-at-once":
    die(3, "no licence")
games = searches = 0
for line in sys.stdin:
    command = line.split()[0]
    if command == "hub":
        introduce()
    elif command == "set-param":
        print(line.strip(), file=sys.stderr, flush=True)
    elif command == "init":
        say("ready")
    elif command == "go":
        searches += 1
        play(searches)
    elif command == "quit":
        break
if FAULT == "stubborn":
    time.sleep(60)

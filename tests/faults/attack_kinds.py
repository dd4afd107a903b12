"""The kinds of attack: each draws what it does from a random source, and states what may follow from it."""

from __future__ import annotations

import os
import random
import re
import resource
import shutil
import signal
import time
from collections.abc import Callable
from pathlib import Path

from harness.adapters.environments import layers
from harness.adapters.storage import journal
from tests.faults.attack_plans import History, Plan, Scene, draw_history
from tests.faults.attack_world import (
    FAULTS,
    HOSTILE,
    MAY_WORK,
    ODD_VERSIONS,
    RAISE,
    IndexFault,
    Kill,
    Setting,
    World,
    limit_files,
    remove,
)

Kind = Callable[[random.Random, World], Plan]


def kills(rng: random.Random, world: World) -> Plan:
    """One to three signals at random moments, each followed by a resume."""
    chosen = []
    for _ in range(rng.choice([1, 1, 2, 3])):
        number = rng.choice([signal.SIGKILL, signal.SIGINT, signal.SIGTERM])
        chosen.append(Kill(number=number, seconds=rng.uniform(0.03, 1.2), group=rng.random() < 0.3))
    jobs = rng.choice([1, 1, 2, 3])
    names = ", ".join(f"{signal.Signals(one.number).name} after {one.seconds:.2f} s" for one in chosen)
    return Plan(
        what=f"{names}, {jobs} jobs",
        history=draw_history(rng),
        kills=tuple(chosen),
        words=("--jobs", str(jobs)),
        pause=rng.choice([0.0, 0.1]),
        # The first signals take a moment in which no handler is set yet.
        codes={6, 130},
        again=jobs * len(chosen),
    )


def index_faults(rng: random.Random, world: World) -> Plan:
    """Some environments are to be built, and the index fails from a random request on."""
    kind = rng.choice(FAULTS)
    history = draw_history(rng, most=4)
    count = rng.choice([1, 2, 1000])
    end = rng.choice(["", "", ".whl", "/simple/toykeras/", "/simple/toynumpy/"])
    fault = IndexFault(kind=kind, first=rng.randrange(3 if end else 8), count=count, end=end)
    cold = rng.sample(history.tested, min(len(history.tested), rng.choice([1, 2])))
    pages = rng.random() < 0.4
    with_base = rng.random() < 0.1

    def forget(scene: Scene) -> None:
        for version in cold:
            for folder in folders_of(scene.home, f"toykeras-{version}"):
                remove(folder)
        for folder in folders_of(scene.home, "toynumpy-1.0") if with_base else []:
            remove(folder)
        for name in ("plans", *(["index"] if pages else [])):
            remove(scene.home / name)

    times = "always" if count == 1000 else f"{count} times"
    return Plan(
        what=f"{kind} {times} from request {fault.first} on of {end or 'any'}; cold: {', '.join(cold)}",
        history=history,
        fault=fault,
        before=forget,
        setting=Setting(env={"UV_CACHE_DIR": str(world.folder / "cold" / f"{rng.random()}")}),
        codes={2, 6, 130} if pages else {6, 130},  # a package that no page ever named is bad usage
        again=0,
    )


def journals(rng: random.Random, world: World) -> Plan:
    """Bits of a finished or unfinished journal are torn off or turned over before it is resumed."""
    how = rng.choice(["torn", "torn", "bits", "bits", "bits", "zeros", "line twice", "line lost", "a folder", "gone"])

    def damage(scene: Scene) -> None:
        path = scene.run / journal.NAME
        if not path.exists():
            return
        data = bytearray(path.read_bytes())
        lines = bytes(data).splitlines(keepends=True)
        place = rng.randrange(len(data))
        match how:
            case "torn":
                path.write_bytes(data[:place])
            case "bits":
                path.write_bytes(flipped(rng, data))
            case "zeros":
                path.write_bytes(data[:place] + bytes(min(64, len(data) - place)) + data[place + 64 :])
            case "line twice" | "line lost":
                chosen = rng.randrange(len(lines))
                changed = [one for n, one in enumerate(lines) for _ in range(1 if n != chosen else 2)]
                path.write_bytes(b"".join(changed if how == "line twice" else lines[:chosen] + lines[chosen + 1 :]))
            case "a folder":
                path.unlink()
                path.mkdir()
            case _:
                path.unlink()

    budget = rng.choice([(), ("--max-trials", str(rng.randint(2, 6)))])
    return Plan(
        what=f"{how}, after {' '.join(budget) or 'a whole run'}",
        history=draw_history(rng),
        budget=budget,
        between=damage,
        always_again=True,
        refusals={2, 6},
        again=None if how in ("line twice", "line lost") else 1,
    )


def trial_cache(rng: random.Random, world: World) -> Plan:
    """Files of finished trials are damaged before the same question is asked again."""
    how = rng.choice(["bits", "bits", "torn", "zeros", "swapped"])

    def damage(scene: Scene) -> None:
        own = [path for path in (scene.home / "trials").rglob("*.json") if path.stat().st_mtime >= began[0]]
        chosen = rng.sample(own, rng.randint(min(2, len(own)), len(own))) if own else []
        texts = [path.read_bytes() for path in chosen]
        for n, (path, text) in enumerate(zip(chosen, texts, strict=True)):
            match how:
                case "bits":
                    path.write_bytes(flipped(rng, bytearray(text)))
                case "torn":
                    path.write_bytes(text[: rng.randrange(len(text))])
                case "zeros":
                    path.write_bytes(bytes(len(text)))
                case _:
                    path.write_bytes(texts[n - 1])

    began = [0.0]
    return Plan(
        what=how,
        history=draw_history(rng),
        before=lambda scene: began.__setitem__(0, time.time()),
        between=damage,
        always_again=True,
        anew=True,
        again=None,
    )


def seals(rng: random.Random, world: World) -> Plan:
    """What says that an environment is whole is damaged, swapped, or comes from another one."""
    history = draw_history(rng)
    how = rng.choice(["bits", "bits", "torn", "empty", "swapped", "swapped", "plans", "canary", "null"])

    def damage(scene: Scene) -> None:
        chosen = [folder / layers.SEAL for v in history.tested for folder in folders_of(scene.home, f"toykeras-{v}")]
        chosen += [folder / layers.SEAL for folder in folders_of(scene.home, "toynumpy-1.0")]
        present = [path for path in chosen if path.exists()]
        if how == "plans":
            present = list((scene.home / "plans").rglob("*.json"))
        if how == "canary":
            present = [p for seal in present for p in seal.parent.rglob("canary.json")]
        picked = rng.sample(present, min(len(present), rng.randint(2, 4) if how == "swapped" else rng.randint(1, 3)))
        texts = [path.read_bytes() for path in picked]
        for n, (path, text) in enumerate(zip(picked, texts, strict=True)):
            if how == "swapped":
                path.write_bytes(texts[n - 1])
            elif how == "null":
                path.write_bytes(b"null")
            elif how == "torn":
                path.write_bytes(text[: rng.randrange(len(text) + 1)])
            elif how == "empty" or not text:
                path.write_bytes(b"")
            else:
                path.write_bytes(flipped(rng, bytearray(text)))

    return Plan(what=how, history=history, before=damage, damages=True)


def environments(rng: random.Random, world: World) -> Plan:
    """Files of a sealed environment are damaged."""
    history = draw_history(rng)
    how = rng.choice(
        ["pyc torn", "pyc zeros", "pyc bits", "pyvenv.cfg gone", "pyvenv.cfg empty", "edited", "edited, dated back",
         "deleted", "sitecustomize", "metadata gone", "python gone", "another pth", "mode 0"]
    )  # fmt: skip
    base = rng.random() < 0.4
    version = rng.choice(history.tested) if history.tested else "1.0"

    def damage(scene: Scene) -> None:
        name = "toynumpy-1.0" if base else f"toykeras-{version}"
        for site in sites_of(scene.home, name):
            hurt(rng, how, site, site / name.partition("-")[0])

    where = "the companion" if base else version
    return Plan(what=f"{how} in {where}", history=history, before=damage, damages=True)


def hurt(rng: random.Random, how: str, site: Path, package: Path) -> None:
    """Damage one environment."""
    root = site.parents[2]
    if how.startswith("pyc"):
        for path in package.rglob("*.pyc"):
            data = bytearray(path.read_bytes())
            path.chmod(0o644)
            if how == "pyc torn":
                os.truncate(path, rng.randrange(len(data)))
            else:
                with path.open("r+b") as file:
                    file.write(bytes(16) if how == "pyc zeros" else flipped(rng, data, first=16))
        return
    module = package / "__init__.py"
    match how:
        case "pyvenv.cfg gone":
            (root / "pyvenv.cfg").unlink(missing_ok=True)
        case "pyvenv.cfg empty":
            (root / "pyvenv.cfg").write_text("")
        case "edited" | "edited, dated back":
            before, text = module.stat(), module.read_text()
            module.chmod(0o644)
            with module.open("r+") as file:
                file.write(text.replace("return same", "return 1   ").replace("return number", "return 1     "))
                file.write("" if how != "edited" else "\n# edited")
            if how != "edited":
                os.utime(module, ns=(before.st_atime_ns, before.st_mtime_ns))
        case "deleted":
            module.unlink()
        case "sitecustomize":
            (site / "sitecustomize.py").write_text("raise SystemExit(1)")
        case "metadata gone":
            for info in site.glob(f"{package.name}-*.dist-info"):
                shutil.rmtree(info)
        case "python gone":
            for link in (root / "bin").glob("python*"):
                link.unlink()
        case "another pth":
            (site / "zz.pth").write_text("import sys; sys.modules['toynumpy'] = None\n")
        case _:
            module.chmod(0)


GUARD = "os.getppid() not in ({own}, 1)"
BODIES = {
    "writes into the companion": """
if ON:
    import toynumpy
    try:
        open(toynumpy.__file__, 'a').write('\\ndef same(number): return 1\\n')
    except OSError: pass""",
    "replaces the companion": """
if ON:
    import toynumpy
    try:
        os.replace(toynumpy.__file__, toynumpy.__file__ + '.old')
        open(toynumpy.__file__, 'w').write('def same(number): return 1')
    except OSError: pass""",
    "writes, then restores the time": """
if ON:
    import toynumpy
    try:
        status = os.stat(toynumpy.__file__); text = open(toynumpy.__file__).read()
        with open(toynumpy.__file__, 'r+') as f: f.write(text.replace('return number', 'return 1     '))
        os.utime(toynumpy.__file__, ns=(status.st_atime_ns, status.st_mtime_ns))
    except OSError: pass""",
    "adds a sitecustomize": """
if ON:
    try: open(os.path.join(os.path.dirname(os.path.dirname(tested.__file__)), 'sitecustomize.py'), 'w').write('raise SystemExit(1)')
    except OSError: pass""",
    "writes byte code": """
if ON:
    import toynumpy, py_compile, tempfile
    try:
        source = tempfile.mktemp(); open(source, 'w').write('def same(number): return 1')
        st = os.stat(toynumpy.__file__); data = None
        py_compile.compile(source, cfile=toynumpy.__cached__)
        data = bytearray(open(toynumpy.__cached__, 'rb').read())
        data[8:12] = int(st.st_mtime).to_bytes(4, 'little'); data[12:16] = st.st_size.to_bytes(4, 'little')
        open(toynumpy.__cached__, 'wb').write(data)
    except OSError: pass""",
    "leaves a daemon": """
if ON and os.fork() == 0:
    os.setsid()
    if os.fork() == 0:
        time.sleep(20)
    os._exit(0)""",
    "leaves a chain of forks": """
if ON and os.fork() == 0:
    end = time.time() + 6
    while time.time() < end:
        os.setsid() if os.getpgrp() != os.getpid() else None
        if os.fork(): os._exit(0)
        time.sleep(0.01)
    os._exit(0)""",
    "leaves a daemon that prints": """
if ON and os.fork() == 0:
    os.setsid()
    end = time.time() + 10
    while time.time() < end:
        try: os.write(1, b'x' * 5000)
        except OSError: break
        time.sleep(0.01)
    os._exit(0)""",
    "leaves a stopped child": """
if ON and os.fork() == 0:
    import signal
    os.kill(os.getpid(), signal.SIGSTOP)
    os._exit(0)""",
    "floods its output": """
if ON:
    for _ in range(6000):
        sys.stdout.write('x' * 1000); sys.stderr.write('\\x1b[31m y' * 20)""",
    "closes its output": """
if ON:
    for n in (0, 1, 2): os.close(n)""",
    "makes its scratch read-only": """
if ON:
    os.makedirs('a/b'); open('a/b/c', 'w').close(); os.chmod('a/b', 0o500); os.chmod('a', 0o500)""",
    "changes its limits": """
if ON:
    import resource, signal
    resource.setrlimit(resource.RLIMIT_NOFILE, (16, 16)); signal.signal(signal.SIGTERM, signal.SIG_IGN)""",
}
STOPPING = {
    "kills its parent": "\nif ON and GUARD: os.kill(os.getppid(), 9); time.sleep(0.2)",
    "stops its parent": "\nif ON and GUARD: os.kill(os.getppid(), 15)",
    "kills its group": "\nif ON: os.killpg(0, 9)",
    "kills itself": "\nif ON: os.kill(os.getpid(), 9)",
    "exits above 127": "\nif ON: os._exit(137)",
    "replaces its results": """
if ON:
    import shutil
    for root, folders, files in os.walk('..'):
        for name in files:
            if name.startswith(('trial-', 'result')):
                try: os.remove(os.path.join(root, name)); os.mkdir(os.path.join(root, name))
                except OSError: pass
    try: os.mkdir('../results/trial-0.json')
    except OSError: pass""",
    "removes its scratch": """
if ON:
    import shutil
    shutil.rmtree(os.path.abspath('..'), ignore_errors=True)""",
    "writes a false stage": """
if ON:
    try: open('../results/trial-0.json.stage', 'wb').write(b'\\xff\\xfe\\x00' * 50)
    except OSError: pass""",
    # Once only: who runs it again when there is room gets the true answer.
    "runs out of files": """
if ON and not os.path.exists(ONCEPATH):
    import errno
    open(ONCEPATH, 'w').close()
    raise OSError(errno.EMFILE, 'Too many open files')""",
    "runs out of memory": """
if ON and not os.path.exists(ONCEPATH):
    open(ONCEPATH, 'w').close()
    raise MemoryError""",
}
RAISES = {
    "an exception without text": "class Odd(BaseException):\n    def __str__(self): raise ValueError\nraise Odd",
    "text that is no UTF-8": "raise RuntimeError('\\udcff\\x00\\x1b]0;x\\x07')",
    "a huge text": "raise RuntimeError('x' * 3_000_000)",
    "a nested group": "e = ValueError()\nfor _ in range(200): e = RuntimeError(e)\nraise e",
    "SystemExit with text": "raise SystemExit('no')",
    "SystemExit with an object": "raise SystemExit([1])",
    "recursion": "def f(): f()\nf()",
    "a cause that loops": "a, b = ValueError(), KeyError()\na.__cause__ = b\nb.__cause__ = a\nraise a",
    "in a thread, then exits": "import threading\nthreading.Thread(target=lambda: 1 / 0).start()\nos._exit(3)",
    "through an excepthook that exits": "sys.excepthook = lambda *_: os._exit(9)\nraise ValueError",
    "generator exit": "raise GeneratorExit",
}


def cases(rng: random.Random, world: World) -> Plan:
    """A case that is hostile on some releases, or fails in an odd way on those that are bad."""
    history = draw_history(rng)
    group = rng.choice(["bodies", "bodies", "stopping", "raises", "edits", "codes"])
    hit = tuple(rng.sample(history.tested, min(len(history.tested), rng.choice([1, 1, 2]))))
    jobs = ("--jobs", rng.choice(["1", "2"]))
    if group == "codes":
        codes = {
            v: rng.choice([rng.randrange(1, 128), 0]) if v in history.tested else c for v, c in history.codes.items()
        }
        odd = History(package=history.package, codes=codes, untestable=history.untestable)
        return Plan(what=f"exit codes {sorted(set(codes.values()))}", history=odd, words=jobs)
    if group == "raises":
        name, text = rng.choice(list(RAISES.items()))
        lines = "".join(f"\n    {line}" for line in text.splitlines())
        body = f"if CODES.get(tested.__version__) not in (0, 125):{lines}"
        return Plan(what=f"raises {name}", history=history, body=body, words=jobs)
    if group == "edits":
        restore = rng.random() < 0.5
        text = (
            "open(path, 'a').write('# edited')" if not restore else "open(path, 'a').write('#x'); os.truncate(path, n)"
        )
        body = f"if ON:\n    path = CASEPATH\n    n = os.path.getsize(path)\n    {text}"
        return Plan(
            what=f"edits its file{' and restores it' if restore else ''}",
            history=history,
            hit=hit,
            body=body,
            codes={2, 6},
            words=jobs,
        )
    if group == "stopping":
        name, body = rng.choice(list(STOPPING.items()))
        body = body.replace("GUARD", GUARD.format(own=os.getpid()))
        return Plan(what=name, history=history, hit=hit, body=body, excused=hit, words=jobs, damages=True, again=None)
    name, body = rng.choice(list(BODIES.items()))
    excused = hit if name in ("writes into the companion", "changes its limits") or "compan" in name else ()
    return Plan(what=name, history=history, hit=hit, body=body, excused=excused, words=jobs, damages=True, again=2)


def packages(rng: random.Random, world: World) -> Plan:
    """Packages that are hostile at import, huge, or of odd versions."""
    kind = rng.choice([*HOSTILE, "huge", "odd", "odd", "odd"])
    versions = ODD_VERSIONS if kind == "odd" else ("1.0", "1.1", "1.2")
    codes = {version: rng.choice([0, 1]) for version in versions}
    hostile = kind in HOSTILE
    if kind in RAISE:
        codes["1.1"] = 1
    untestable = ["1.1"] if hostile and kind not in (*MAY_WORK, *RAISE) else []
    cold = rng.random() < 0.2

    def forget(scene: Scene) -> None:
        for folder in folders_of(scene.home, f"toy{kind}-") if cold else []:
            remove(folder)

    return Plan(
        what=f"{kind}{', built anew' if cold else ''}",
        history=History(package=f"toy{kind}", codes=codes, untestable=untestable),
        excused=["1.1"] if hostile else (),
        before=forget,
        damages=kind == "edits",
        again=1,
        words=("--jobs", rng.choice(["1", "2"])),
    )


DISK = """
set -e
target=$1; saved=$2; leave=$3; shift 3
mkdir -p "$target" "$saved" "$saved.disk"
mount -t tmpfs -o size=24m attack "$saved.disk"
cp -a "$target/." "$saved.disk/"
free=$(df -Pk "$saved.disk" | tail -n 1 | awk '{print $4}')
head -c $(( (free - leave) * 1024 )) /dev/zero > "$saved.disk/ballast"
mount --bind "$saved.disk" "$target"
set +e
"$@"
code=$?
rm -f "$saved.disk/ballast"
cp -a "$saved.disk/." "$saved/"
umount -l "$target"
exit $code
"""


def disks(rng: random.Random, world: World) -> Plan:
    """A disk that fills up, or a limit on the size of files."""
    history = draw_history(rng)
    writes = rng.random() < 0.3
    body = f"open('large', 'wb').write(b'x' * {rng.choice([10_000, 200_000, 2_000_000])})" if writes else ""
    again = 3 * 3
    leave = rng.choice([0, 4, 8, 12, 16, 24, 40, 60, 100, 200])
    if rng.random() < 0.35 or not can_mount():
        size = rng.choice([0, 100, 1000, 4000, 16_000, 60_000])
        setting = Setting(prepare=limit_files(size), anew=rng.random() < 0.3)
        return Plan(what=f"files of at most {size} bytes", history=history, setting=setting, again=again)
    home = rng.random() < 0.6
    wrapper = ("unshare", "-m", "sh", "-c", DISK, "sh", "{home}" if home else "{run}", "{saved}", str(leave))
    body = body if home else ""
    what = f"{leave} kB left for the {'home' if home else 'run'}{', and the case writes' if body else ''}"
    return Plan(
        what=what,
        history=history,
        body=f"if ON: {body}" if body else "",
        hit=tuple(history.tested),
        setting=Setting(wrapper=wrapper),
        between=None if home else bring_back,
        again=again,
    )


def bring_back(scene: Scene) -> None:
    """What the full disk held is the run's folder now."""
    shutil.copytree(scene.folder / "saved", scene.run, dirs_exist_ok=True)


def budgets(rng: random.Random, world: World) -> Plan:
    """A limited number of trials, then the rest."""
    most = rng.randint(2, 20)
    return Plan(
        what=f"--max-trials {most}",
        history=draw_history(rng, most=8),
        budget=("--max-trials", str(most)),
        words=("--jobs", rng.choice(["1", "2"])),
        always_again=True,
    )


def jobs(rng: random.Random, world: World) -> Plan:
    """Several releases at once, several harnesses at once, some of them killed."""
    count, rivals = rng.randint(2, 8), rng.choice([1, 2, 3])
    kill = rng.random() < 0.4
    history = draw_history(rng, most=6)
    cold = rng.sample(history.tested, min(len(history.tested), rng.choice([0, 0, 1])))

    def forget(scene: Scene) -> None:
        for version in cold:
            for folder in folders_of(scene.home, f"toykeras-{version}"):
                remove(folder)

    return Plan(
        what=f"{count} jobs, {rivals} harnesses{', killed' if kill else ''}",
        history=history,
        words=("--jobs", str(count)),
        rivals=rivals,
        before=forget,
        kills=(Kill(number=signal.SIGKILL, seconds=rng.uniform(0.1, 1.5), group=False),) if kill else (),
        again=count * rivals if kill else 0,
    )


PASSWORD = "pa55-of-a-pr0xy"
SURROUNDINGS: dict[str, dict[str, str]] = {
    "AUTH_KIND=script": {"AUTH_KIND": "script"},
    "common words are secrets": {"MY_TOKEN": "good", "DB_PASSWORD": "true", "API_KEY": "exited", "PASS_SECRET": "1.0"},
    "a token that is a name": {"GITHUB_TOKEN": "toykeras"},
    "symbolic links": {"UV_LINK_MODE": "symlink"},
    "a proxy with a password": {"HTTPS_PROXY": f"http://joe:{PASSWORD}@127.0.0.1:9"},
    "LANG=C": {"LANG": "C", "LC_ALL": "C"},
    "a locale that is not there": {"LANG": "xx_XX.UTF-8", "LC_ALL": "xx_XX.ISO-8859-1"},
    "PYTHONPATH": {"PYTHONPATH": "{junk}"},
    "PYTHONOPTIMIZE": {"PYTHONOPTIMIZE": "2", "PYTHONDONTWRITEBYTECODE": "1"},
    "PYTHONWARNINGS": {"PYTHONWARNINGS": "always"},
    "no TMPDIR": {"TMPDIR": "/nowhere/at/all"},
    "HOME is not there": {"HOME": "/nowhere/at/all"},
    "a narrow terminal": {"COLUMNS": "1", "TERM": "dumb", "NO_COLOR": "1"},
    "colours": {"FORCE_COLOR": "1", "CLICOLOR_FORCE": "1"},
    "a time zone": {"TZ": "Pacific/Kiritimati"},
    "installer's settings": {
        "UV_RESOLUTION": "lowest",
        "UV_CONSTRAINT": "/nowhere",
        "PIP_INDEX_URL": "http://127.0.0.1:9/",
    },
    "a virtual environment": {"VIRTUAL_ENV": "/nowhere", "CONDA_PREFIX": "/nowhere"},
    "git's settings": {"GIT_DIR": "/nowhere", "GIT_WORK_TREE": "/nowhere"},
    "a library that is missing": {"LD_PRELOAD": "/nowhere.so"},
    "a home with blanks": {"HARNESS_HOME": "{world}/a home, its größe: 日本 'x'"},
    "SIGCHLD ignored": {},
    "few open files": {},
    "a strict umask": {},
    "closed input and output": {},
}


def surroundings(rng: random.Random, world: World) -> Plan:
    """The harness is started in odd surroundings."""
    name = rng.choice(list(SURROUNDINGS))
    history = draw_history(rng, most=4)
    junk = world.folder / "junk"
    junk.mkdir(exist_ok=True)
    (junk / "toykeras.py").write_text("__version__ = '1.0'\ndef check(_): return 1")
    env = {key: text.format(junk=junk, world=world.live) for key, text in SURROUNDINGS[name].items()}
    cold = rng.random() < 0.5 or name in ("symbolic links", "SIGCHLD ignored")
    if cold:
        env.setdefault("UV_CACHE_DIR", str(world.folder / "cold" / f"{rng.random()}"))
    version = rng.choice(history.tested)

    def forget(scene: Scene) -> None:
        for folder in folders_of(scene.home, f"toykeras-{version}") if cold else []:
            remove(folder)

    def empty_cache(scene: Scene) -> None:
        if cold:
            remove(Path(env["UV_CACHE_DIR"]))

    prepare: dict[str, Callable[[], None]] = {
        "SIGCHLD ignored": lambda: void(signal.signal(signal.SIGCHLD, signal.SIG_IGN)),
        "few open files": lambda: resource.setrlimit(resource.RLIMIT_NOFILE, (64, 64)),
        "a strict umask": lambda: void(os.umask(0o077)),
        "closed input and output": lambda: os.close(0),
    }
    return Plan(
        what=f"{name}{', cold' if cold else ''}",
        history=history,
        setting=Setting(env=env, anew=True, prepare=prepare.get(name)),
        before=forget,
        between=empty_cache,
        damages=True,
        secrets=(PASSWORD,) if name == "a proxy with a password" else (),
        words=("--jobs", rng.choice(["1", "2"])),
    )


KINDS: dict[str, Kind] = {
    "kills": kills,
    "index": index_faults,
    "journals": journals,
    "trial-cache": trial_cache,
    "seals": seals,
    "environments": environments,
    "cases": cases,
    "packages": packages,
    "disks": disks,
    "budgets": budgets,
    "jobs": jobs,
    "surroundings": surroundings,
}


def flipped(rng: random.Random, data: bytearray, *, first: int = 0) -> bytes:
    """Turn one to three bits over, or the lowest one of an exit code: where it would hurt most."""
    codes = [match.start(1) for match in re.finditer(rb'"exit_code": ?([0-9])', data)]
    if codes and rng.random() < 0.4:
        data[rng.choice(codes)] ^= 1
        return bytes(data)
    for _ in range(rng.choice([1, 1, 1, 2, 3])):
        if len(data) > first:
            data[rng.randrange(first, len(data))] ^= 1 << rng.randrange(8)
    return bytes(data)


def sites_of(home: Path, name: str) -> list[Path]:
    """Folders of installed packages that hold a distribution, such as toykeras-1.0."""
    return [info.parent for info in (home / "environments").glob(f"*/*/*/lib/python*/site-packages/{name}*.dist-info")]


def folders_of(home: Path, name: str) -> list[Path]:
    """Folders of the layers that hold a distribution."""
    exact = name if name.endswith("-") else f"{name}.dist-info"
    return sorted(
        {site.parents[4] for site in sites_of(home, name.removesuffix(".dist-info")) if list(site.glob(f"{exact}*"))}
    )


def can_mount() -> bool:
    """Whether a file system can be mounted in a namespace of its own."""
    return shutil.which("unshare") is not None and os.geteuid() == 0


def void(_: object) -> None:
    """Drop a value."""

import type { EndAnswer, ProgramIdentity } from '../protocol/messages.ts'
import { cgroupMembers, killCgroup } from './cgroup-files.ts'
import { bootId, isAlive, signalExact, whoIs } from './identity.ts'
import { type Member, membersOf } from './members.ts'
import { ProcTable } from './proc-table.ts'
import { codeOf, isOver, statOf } from './stat.ts'

export interface EndTarget {
  readonly program: ProgramIdentity
  readonly marker: string
}

export interface EndHow {
  readonly signal: string
  /** How long the tree may take before it is forced. 0: it is never forced. */
  readonly graceMs: number
  /** Called once, right before the program itself is signalled for the first time. */
  readonly onSignalled?: () => void
}

/** Ends a program and all that belongs to it. Rejects only when aborted, or when the system cannot be read. */
export function endTree(target: EndTarget, how: EndHow, abort?: AbortSignal): Promise<EndAnswer> {
  return new TreeEnd(target, how, abort).done
}

/** The first and the longest pause between two looks while a tree may take its time, and once that may be long. */
const FIRST_PAUSE_MS = 5
const PAUSE_MS = 50
const LONG_PAUSE_MS = 500
const LONG_AFTER_MS = 10_000

/** SIGKILL works at once, or not at all while the system itself is stuck: so long is looked for survivors. */
const FORCE_MS = 2_000
const FORCE_PAUSE_MS = 10

/** A tree that grows faster than it can be stopped in so many looks is killed as it is, look by look. */
const STOP_ROUNDS = 10

/** Which of two signals counts when both are asked for. Others never replace one of these. */
const STRENGTH: Readonly<Record<string, number>> = {
  SIGHUP: 1,
  SIGINT: 1,
  SIGTERM: 2,
  SIGQUIT: 3,
  SIGKILL: 4,
}

/**
 * The end of one tree, under way.
 *
 * | state   | what is done                                             | goes on to                                     |
 * | looking | identity first, then who is there                        | answer `not_ours`, `already_gone`; asking      |
 * | asking  | the signal, children before parents; then looks          | answer `asked`; forcing, when grace is over    |
 * | forcing | all are stopped, so that none is born; SIGKILL; looks    | answer `forced`, or `survived` when time is up |
 *
 * Invariant: `already_gone`, `asked` and `forced` are answered only after two looks, one after the other, found nobody.
 */
export class TreeEnd {
  readonly done: Promise<EndAnswer>
  readonly #target: EndTarget
  readonly #abort: AbortSignal | undefined
  #onSignalled: (() => void) | undefined
  #signal: string
  #forceAt: number
  /** Everybody found so far who was alive at the last look, by PID and start time. */
  #known: readonly Member[] = []
  readonly #asked = new Set<string>()
  #wake: () => void = () => {}

  constructor(target: EndTarget, how: EndHow, abort?: AbortSignal) {
    this.#target = target
    this.#abort = abort
    this.#onSignalled = how.onSignalled
    this.#signal = how.signal
    this.#forceAt = forceAt(how.graceMs)
    abort?.addEventListener('abort', this.nudge, { once: true })
    this.done = this.#run().finally(() => abort?.removeEventListener('abort', this.nudge))
  }

  /** A stronger signal and a shorter grace count, from now on; a weaker or longer one changes nothing. */
  strengthen(signal: string, graceMs: number): void {
    if ((STRENGTH[signal] ?? 0) > (STRENGTH[this.#signal] ?? 0)) this.#signal = signal
    this.#forceAt = Math.min(this.#forceAt, forceAt(graceMs))
    this.nudge()
  }

  /** Something has changed, the program has ended perhaps: it looks at once. */
  readonly nudge = (): void => {
    this.#wake()
  }

  async #run(): Promise<EndAnswer> {
    const { program } = this.#target
    const who = whoIs(program)
    if (bootId() === '') return { how: 'not_ours' }
    if (who === 'unreadable' && isSomebodyAt(program.osPid)) return { how: 'not_ours' }
    const isEmpty = await this.#isEmpty()
    if (who === 'stranger' && (isEmpty || (await this.#isContradicted()))) return { how: 'not_ours' }
    if (isEmpty) return { how: 'already_gone' }
    return (await this.#ask()) ?? (await this.#force())
  }

  /** Null when they must be forced. */
  async #ask(): Promise<EndAnswer | null> {
    const begun = performance.now()
    let askedWith: string | null = null
    let pauseMs = FIRST_PAUSE_MS
    let looked = false
    while (this.#signal !== 'SIGKILL' && performance.now() < this.#forceAt) {
      if (askedWith !== this.#signal) {
        askedWith = this.#signal
        this.#asked.clear()
        pauseMs = FIRST_PAUSE_MS
        looked = false
        this.#askKnown()
      }
      await this.#pause(Math.min(pauseMs, this.#forceAt - performance.now()))
      const most = performance.now() - begun < LONG_AFTER_MS ? PAUSE_MS : LONG_PAUSE_MS
      pauseMs = Math.min(pauseMs * 1.5, most)

      const alive = this.#known.filter(({ osPid, startTime }) => isAlive(osPid, startTime))
      const leaderIsGone = !alive.some(({ osPid }) => osPid === this.#target.program.osPid)
      const leaderWasThere = this.#known.some(({ osPid }) => osPid === this.#target.program.osPid)
      const somethingNew = alive.length === 0 || (leaderIsGone && leaderWasThere) || !looked
      if (!somethingNew) continue
      looked = true
      if (await this.#isEmpty()) return { how: 'asked' }
      // Who came since is left to the program, which may be tidying up; but not when that is gone.
      if (leaderIsGone) this.#askKnown()
    }
    return null
  }

  async #force(): Promise<EndAnswer> {
    const until = performance.now() + FORCE_MS
    await this.#stopAll()
    for (;;) {
      if (await this.#isEmpty()) return { how: 'forced' }
      if (performance.now() >= until) break
      this.#killKnown()
      await this.#pause(FORCE_PAUSE_MS)
    }
    return { how: 'survived', survivors: this.#known.map(({ osPid, name }) => ({ osPid, name })) }
  }

  /** Nobody who is stopped has children. Without this, one whose parent was killed just now might not be found again. */
  async #stopAll(): Promise<void> {
    const stopped = new Set<string>()
    for (let round = 0; round < STOP_ROUNDS; round++) {
      await this.#look()
      const running = this.#known.filter((member) => !stopped.has(keyOf(member)))
      if (running.length === 0) return
      for (const member of running) {
        this.#send(member, 'SIGSTOP')
        stopped.add(keyOf(member))
      }
    }
  }

  #askKnown(): void {
    for (const member of this.#known) {
      if (this.#asked.has(keyOf(member))) continue
      this.#asked.add(keyOf(member))
      // One that is stopped hears nothing but SIGCONT and SIGKILL; the signal waits for it until then.
      if (this.#send(member, this.#signal) && statOf(member.osPid)?.state === 'T')
        this.#send(member, 'SIGCONT')
    }
  }

  #killKnown(): void {
    const { cgroup } = this.#target.program
    if (cgroup !== null) {
      const known = new Set(this.#known.map(({ osPid }) => osPid))
      const inside = cgroupMembers(cgroup)
      if (inside.length > 0 && inside.every((osPid) => known.has(osPid))) {
        if (known.has(this.#target.program.osPid)) this.#tellSignalled()
        killCgroup(cgroup)
      }
    }
    for (const member of this.#known) this.#send(member, 'SIGKILL')
  }

  #send(member: Member, signal: string): boolean {
    if (member.osPid === this.#target.program.osPid && isAlive(member.osPid, member.startTime)) {
      this.#tellSignalled()
    }
    try {
      return signalExact(member.osPid, member.startTime, signal)
    } catch (error) {
      // Not ours to signal, as after sudo. It is still there, and is named as a survivor.
      if (codeOf(error) === 'EPERM') return false
      throw error
    }
  }

  #tellSignalled(): void {
    const tell = this.#onSignalled
    this.#onSignalled = undefined
    tell?.()
  }

  async #isEmpty(): Promise<boolean> {
    return (await this.#look()) && (await this.#look())
  }

  /** True when nobody was found. */
  async #look(): Promise<boolean> {
    const table = await nextTable()
    this.#abort?.throwIfAborted()
    const { program, marker } = this.#target
    this.#known = membersOf(program, marker, { known: this.#known, table })
    return this.#known.length === 0
  }

  /** The start time says stranger and the marker says ours: the record cannot be right, and nobody is signalled for it. */
  async #isContradicted(): Promise<boolean> {
    return (await nextTable()).hasMarker(this.#target.program.osPid, this.#target.marker)
  }

  async #pause(ms: number): Promise<void> {
    if (ms <= 0) return
    await new Promise<void>((resolve) => {
      const timer = setTimeout(resolve, ms)
      this.#wake = () => {
        clearTimeout(timer)
        resolve()
      }
    })
    this.#wake = () => {}
    this.#abort?.throwIfAborted()
  }
}

function forceAt(graceMs: number): number {
  return graceMs > 0 ? performance.now() + graceMs : Number.POSITIVE_INFINITY
}

function keyOf({ osPid, startTime }: Member): string {
  return `${osPid}:${startTime}`
}

function isSomebodyAt(osPid: number): boolean {
  const stat = statOf(osPid)
  return stat !== null && !isOver(stat)
}

let pending: Promise<ProcTable> | null = null

/** A look taken after this was called; all who ask in one turn of the loop share it, so that many ends cost one pass. */
function nextTable(): Promise<ProcTable> {
  pending ??= new Promise((resolve, reject) => {
    setImmediate(() => {
      pending = null
      try {
        resolve(ProcTable.read())
      } catch (error) {
        reject(error)
      }
    })
  })
  return pending
}

import { seqIn } from '../../../src/core/agent/earlier-logs.ts'
import { TURN_REASONS } from '../../../src/core/agent/state.ts'
import { objectOf } from '../../../src/core/json/json.ts'
import type { StoredEvent } from '../../../src/core/process/event.ts'
import type { ProcessRecord } from '../../../src/core/process/record.ts'
import { payloadOf } from '../payload.ts'
import { LAWS, type SessionLaw } from './laws.ts'

/** Crashes of one turn without progress that end it. */
const MAX_CRASHES = 5
const MAX_CUTS = 20

interface OpenTurn {
  readonly number: number
  readonly follows: number
  hasOutput: boolean
  calls: number
  call: number | null
  /** The call whose answer this commit writes. */
  answering: number | null
  readonly tools: Set<string>
  /** Notices that a roll-back gives back. */
  notices: number[]
  crashes: number
  cuts: number
}

interface Waiting {
  readonly id: string
  readonly isSteering: boolean
}

/**
 * One session, as its committed events tell it: a second opinion, written from the method table. It knows what may follow what, and
 * reports each event that may not.
 */
export class SessionModel {
  readonly #broke: (law: SessionLaw, what: string) => void
  /** How each turn ended. */
  readonly ended = new Map<number, string>()
  readonly #fates = new Map<string, 'waiting' | 'taken' | 'removed'>()
  readonly #askers = new Map<string, string>()
  #turns = 0
  #turn: OpenTurn | null = null
  #isPaused = false
  #head = 0
  #waiting: Waiting[] = []
  #notices: number[] = []
  readonly #groups = new Map<string, { readonly pid: string; seq: number | null }[]>()
  #lastReason = ''
  /** Where each turn ended, and the head before each. */
  readonly #ends = new Map<number, number>()
  readonly #begins = new Map<number, number>()

  constructor(broke: (law: SessionLaw, what: string) => void) {
    this.#broke = broke
  }

  get waiting(): readonly string[] {
    return this.#waiting.map(({ id }) => id)
  }

  get openTurn(): number | null {
    return this.#turn?.number ?? null
  }

  /** Whether an open turn has this tool call open, as `call.index`. */
  isOpen(turn: number, tool: string): boolean {
    return this.#turn?.number === turn && this.#turn.tools.has(tool)
  }

  /** Whether waiting inputs wait for a person: the last turn met trouble that the next one would meet, too. */
  get waitsForPerson(): boolean {
    return !['finished', 'cancelled', 'refused', 'invalid_tool_calls', 'invalid_output', ''].includes(
      this.#lastReason,
    )
  }

  /** The turns of the logs that a fork goes on with, each up to where its session leaves it. Their places are negative. */
  goesOnWith(logs: readonly (readonly StoredEvent[])[]): void {
    let shift = 1 + logs.reduce((total, log) => total + (log.at(-1)?.seq ?? 0), 0)
    let head = 1 - shift
    let follows = head
    let open: number | null = null
    for (const log of logs) {
      for (const event of log) {
        const begun = payloadOf(event, 'turn_begun')
        if (begun !== undefined) {
          open = begun.turn
          follows = head
        }
        if (isEntry(event)) head = event.seq - shift
        const ended = payloadOf(event, 'turn_ended')
        if (ended?.reason === 'rolled_back') head = follows
        const rewound = payloadOf(event, 'session_rewound')
        if (rewound !== undefined) head = seqIn(rewound.to, shift)
        if (ended === undefined) continue
        if (ended.reason !== 'rolled_back') this.#keep(ended.turn, follows, head)
        open = null
      }
      // A fork may branch in the middle of a turn.
      if (open !== null) this.#keep(open, follows, head)
      open = null
      shift -= log.at(-1)?.seq ?? 0
    }
  }

  #keep(turn: number, begin: number, end: number): void {
    this.#begins.set(turn, begin)
    this.#ends.set(turn, end)
  }

  /** One commit: the events that it adds, and the record that it leaves. */
  committed(events: readonly StoredEvent[], record: ProcessRecord): void {
    for (const event of events) this.#note(event, events)
    if (this.#turn !== null) this.#turn.answering = null
    this.#compare(record)
  }

  #note(event: StoredEvent, commit: readonly StoredEvent[]): void {
    // The turns of a fork are numbered on behind the branch point.
    this.#turns = payloadOf(event, 'session_continued')?.turns ?? this.#turns
    this.#noteInput(event, commit)
    this.#noteTurn(event, commit)
    this.#noteCall(event, commit)
    if (event.type === 'paused') this.#isPaused = true
    if (event.type === 'resumed' || event.type === 'stop_requested') this.#isPaused = false
    this.#noteRewind(event)
    if (event.type === 'holder_lost' && this.#turn !== null && !this.#isPaused) this.#turn.crashes += 1
  }

  #noteInput(event: StoredEvent, commit: readonly StoredEvent[]): void {
    const admitted = payloadOf(event, 'input_admitted')
    if (admitted !== undefined) {
      const { input: id, mode, asker, answer } = admitted
      if (this.#fates.has(id)) this.#broke(LAWS.inputTwice, `${id} was admitted before`)
      if (asker !== event.actor) this.#broke(LAWS.answers, `${id} of ${event.actor} is ${asker}'s`)
      this.#fates.set(id, 'waiting')
      this.#askers.set(id, asker)
      this.#waiting.push({ id, isSteering: mode === 'steer' })
      const isTaken = commit.some((one) => payloadOf(one, 'input_promoted')?.input === id)
      if (answer.type === 'started' && !isTaken) this.#broke(LAWS.inputLost, `${id} started no turn`)
    }
    const edited = payloadOf(event, 'input_edited')
    if (edited !== undefined && this.#fates.get(edited.input) !== 'waiting')
      this.#broke(LAWS.inputTwice, `${edited.input} was edited, and is ${this.#fates.get(edited.input)}`)
    const removed = payloadOf(event, 'input_removed')
    if (removed !== undefined) {
      if (!commit.some((one) => removes(one, removed.input)))
        this.#broke(LAWS.inputLost, `${removed.input} was removed, and no client asked for that`)
      this.#fates.set(removed.input, 'removed')
      this.#waiting = this.#waiting.filter(({ id }) => id !== removed.input)
    }
    const reordered = payloadOf(event, 'inputs_reordered')
    if (reordered !== undefined)
      this.#waiting = reordered.inputs.flatMap((id) => this.#waiting.find((one) => one.id === id) ?? [])
    const promoted = payloadOf(event, 'input_promoted')
    if (promoted !== undefined) this.#promote(promoted.input, commit)
    this.#noteNotice(event)
    if (event.type === 'notices_promoted') {
      if (this.#turn?.hasOutput === false) this.#turn.notices.push(...this.#notices)
      this.#notices = []
    }
  }

  /** The reports of a group wait for the last of them, and follow its notice in the order of their seats. */
  #noteNotice(event: StoredEvent): void {
    const { pid, seat } = payloadOf(event, 'child_registered') ?? {}
    if (pid !== undefined && seat !== undefined) {
      const seats = this.#groups.get(seat.group) ?? []
      seats[seat.index] = { pid, seq: null }
      this.#groups.set(seat.group, seats)
    }
    const notice = payloadOf(event, 'notice_buffered')
    if (notice === undefined) return
    const { seatOf, group = '' } = notice
    if (seatOf === undefined) {
      const seats = this.#groups.get(group) ?? []
      this.#notices.push(event.seq, ...seats.flatMap(({ seq }) => seq ?? []))
    }
    for (const seat of [...this.#groups.values()].flat())
      if (seat.pid === seatOf && seat.seq === null) seat.seq = event.seq
  }

  #promote(id: string, commit: readonly StoredEvent[]): void {
    const fate = this.#fates.get(id)
    if (fate !== 'waiting')
      this.#broke(fate === 'taken' ? LAWS.inputTwice : LAWS.inputLost, `${id} was taken, and is ${fate}`)
    // An input that begins its turn at once, or that steers, may overtake those that wait.
    const isStarted = commit.some((one) => payloadOf(one, 'input_admitted')?.answer.type === 'started')
    const first = commit.some(({ type }) => type === 'turn_begun')
      ? this.#waiting[0]
      : this.#waiting.find(({ isSteering }) => isSteering)
    if (!isStarted && first?.id !== id) this.#broke(LAWS.order, `${id} was taken before ${first?.id}`)
    this.#fates.set(id, 'taken')
    this.#waiting = this.#waiting.filter((one) => one.id !== id)
  }

  #noteTurn(event: StoredEvent, commit: readonly StoredEvent[]): void {
    const begun = payloadOf(event, 'turn_begun')
    if (begun !== undefined) {
      const { turn: number, follows, input, asker } = begun
      if (this.#turn !== null) this.#broke(LAWS.turns, `turn ${number} begins in turn ${this.#turn.number}`)
      if (number !== this.#turns + 1) this.#broke(LAWS.turns, `turn ${number} follows ${this.#turns}`)
      if (follows !== this.#head)
        this.#broke(LAWS.head, `turn ${number} follows ${follows}, not ${this.#head}`)
      if (this.#isPaused) this.#broke(LAWS.paused, `turn ${number} begins`)
      if (input !== null && asker !== this.#askers.get(input))
        this.#broke(LAWS.answers, `turn ${number} is ${asker}'s, its input ${this.#askers.get(input)}'s`)
      this.#turns = number
      this.#turn = {
        number,
        follows,
        hasOutput: false,
        calls: 0,
        call: null,
        answering: null,
        tools: new Set(),
        notices: [],
        crashes: 0,
        cuts: 0,
      }
    }
    const turn = turnIn(event)
    if (turn !== undefined && turn !== this.#turn?.number)
      this.#broke(LAWS.cancelLost, `${event.type} of turn ${turn}, and ${this.openTurn} is open`)
    if (isEntry(event)) {
      if (event.seq <= this.#head) this.#broke(LAWS.head, `${event.type} ${event.seq} after ${this.#head}`)
      this.#head = event.seq
    }
    const ended = payloadOf(event, 'turn_ended')
    if (ended !== undefined && this.#turn !== null) this.#end(this.#turn, ended.reason, commit)
    if (event.type === 'ended' && this.#turn !== null)
      this.#broke(LAWS.turns, `the agent ends in turn ${this.#turn.number}`)
    if (payloadOf(event, 'ended')?.reason === 'attempts_exhausted')
      this.#broke(LAWS.crashes, 'the agent has no attempts left')
  }

  #end(turn: OpenTurn, reason: string, commit: readonly StoredEvent[]): void {
    const broke = (what: string) => this.#broke(LAWS.turns, `turn ${turn.number} ends ${reason}: ${what}`)
    const isKnown = TURN_REASONS.some((one) => one === reason) || reason.startsWith('limit:')
    if (!isKnown) broke('no such reason')
    if (turn.call !== null) broke(`call ${turn.call} is open`)
    if (turn.tools.size > 0) this.#broke(LAWS.calls, `${[...turn.tools]} have no result, and the turn ends`)
    if (reason === 'rolled_back' && turn.hasOutput) broke('it has output')
    if (STOPPED.includes(reason) && !commit.some(stops)) broke('nobody asked for that')
    const isInTrouble = turn.crashes >= MAX_CRASHES || turn.cuts >= MAX_CUTS
    if (reason === 'crashed' && !isInTrouble && !commit.some(({ type }) => type === 'ended'))
      this.#broke(LAWS.crashes, `turn ${turn.number} ended after ${turn.crashes}`)
    this.ended.set(turn.number, reason)
    this.#lastReason = reason
    this.#turn = null
    if (reason !== 'rolled_back') {
      this.#keep(turn.number, turn.follows, this.#head)
      return
    }
    this.#head = turn.follows
    this.#notices = [...turn.notices, ...this.#notices]
  }

  /** Between turns, and to the beginning or the end of a turn that was not rolled back. */
  #noteRewind(event: StoredEvent): void {
    const rewound = payloadOf(event, 'session_rewound')
    if (rewound === undefined) return
    const { from, to } = rewound
    if (this.#turn !== null) this.#broke(LAWS.turns, `a rewind in turn ${this.#turn.number}`)
    if (this.#isPaused) this.#broke(LAWS.paused, 'a rewind')
    if (from !== this.#head) this.#broke(LAWS.head, `a rewind leaves ${from}, not ${this.#head}`)
    const places = [...this.#ends.values(), ...this.#begins.values()]
    if (!places.includes(to)) this.#broke(LAWS.head, `a rewind to ${to}, which is amid a turn`)
    this.#head = to
  }

  #noteCall(event: StoredEvent, commit: readonly StoredEvent[]): void {
    const turn = this.#turn
    if (turn === null) return
    const broke = (what: string) => this.#broke(LAWS.calls, `turn ${turn.number}: ${what}`)
    const begun = payloadOf(event, 'model_call_begun')
    if (begun !== undefined) {
      if (this.#isPaused) this.#broke(LAWS.paused, `call ${begun.call} begins`)
      if (turn.call !== null || turn.tools.size > 0)
        broke(`call ${begun.call} begins, ${turn.call} and ${[...turn.tools]} are open`)
      if (begun.call !== turn.calls + 1) broke(`call ${begun.call} follows ${turn.calls}`)
      if (begun.purpose === 'answer' && this.#waiting.some(({ isSteering }) => isSteering))
        this.#broke(LAWS.inputLost, `call ${begun.call} begins without the inputs that steer`)
      turn.calls = begun.call
      turn.call = begun.call
    }
    if (event.type === 'output_begun') this.#hasOutput(turn)
    const cut = payloadOf(event, 'model_call_cut')
    if (cut !== undefined) {
      if (cut.call !== turn.call) broke(`call ${cut.call} is cut, and ${turn.call} is open`)
      turn.call = null
      turn.cuts += 1
    }
    if (payloadOf(event, 'segment_begun')?.why === 'compaction') {
      this.#hasOutput(turn)
      turn.call = null
    }
    const item = payloadOf(event, 'assistant_item') ?? payloadOf(event, 'tool_called')
    if (item !== undefined) {
      if (item.call !== (turn.answering ?? turn.call)) broke(`call ${item.call} answers, not ${turn.call}`)
      this.#hasOutput(turn)
      turn.answering = item.call
      turn.call = null
      turn.crashes = 0
      turn.cuts = 0
    }
    const called = payloadOf(event, 'tool_called')
    if (called !== undefined && called.isProviderExecuted !== true) turn.tools.add(toolIn(called))
    const answered = payloadOf(event, 'tool_answered')
    if (answered === undefined) return
    if (!turn.tools.delete(toolIn(answered))) broke(`${toolIn(answered)} is answered, and is not open`)
    if (answered.interrupted === true && !commit.some(({ type }) => type === 'turn_ended'))
      broke(`${toolIn(answered)} is interrupted, and the turn goes on`)
    if (answered.interrupted === true) return
    turn.crashes = 0
    turn.cuts = 0
  }

  #hasOutput(turn: OpenTurn): void {
    turn.hasOutput = true
    turn.notices = []
  }

  #compare({ agent, status }: ProcessRecord): void {
    const expected = [
      ['turns', this.#turns, agent?.turns],
      ['turn', this.openTurn, agent?.turn?.number ?? null],
      ['call', this.#turn?.call ?? null, agent?.turn?.call?.number ?? null],
      [
        'tools',
        [...(this.#turn?.tools ?? [])].sort().join(),
        agent?.turn?.tools.map(toolIn).sort().join() ?? '',
      ],
      ['inputs', this.waiting.join(), agent?.inputs.map(({ id }) => id).join()],
      ['notices', this.#notices.join(), agent?.notices.kept.map(({ seq }) => seq).join()],
      ['head', this.#head, agent?.head],
    ] as const
    for (const [what, own, found] of expected)
      if (own !== found) this.#broke(LAWS.fold, `${what}: ${found}, and should be ${own}`)
    if ((status === 'paused') !== this.#isPaused && agent?.turn !== null)
      this.#broke(LAWS.paused, `its status is ${status}`)
  }
}

const STOPPED = ['cancelled', 'rolled_back', 'paused']

/** What may end a turn from outside. */
function stops(event: StoredEvent): boolean {
  const asked = payloadOf(event, 'agent_requested')?.request.type
  if (asked !== undefined) return ['cancel_turn', 'pause', 'shutdown'].includes(asked)
  return (
    ['ended', 'stop_requested'].includes(event.type) || payloadOf(event, 'input_admitted')?.mode === 'run'
  )
}

function removes(event: StoredEvent, input: string): boolean {
  const request = payloadOf(event, 'agent_requested')?.request
  if (request?.type === 'remove_input') return request.input === input
  return request?.type === 'cancel_turn' && request.dropQueued === true
}

function toolIn({ call, index }: { readonly call: number; readonly index: number }): string {
  return `${call}.${index}`
}

/** The use of a model may be recorded after the end of its turn, and a job of memory works between turns. */
function turnIn({ type, payload }: StoredEvent): number | undefined {
  const { turn, alert } = objectOf(type === 'model_used' || type === 'files_put_back' ? null : payload)
  if (alert === 'memory_failed') return undefined
  return typeof turn === 'number' ? turn : undefined
}

function isEntry({ type }: StoredEvent): boolean {
  return ENTRIES.includes(type)
}

const ENTRIES: readonly string[] = [
  ...['turn_begun', 'input_promoted', 'notices_promoted', 'assistant_item', 'tool_called'],
  ...['tool_answered', 'system_item', 'model_call_cut', 'segment_begun', 'turn_ended'],
]

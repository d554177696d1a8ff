import type { FileWrite } from '../files/file-write.ts'
import { objectOf } from '../json/json.ts'
import { knownEvent, type StoredEvent } from '../process/event.ts'
import type { SessionContinued } from './earlier-logs.ts'
import { isAgentEvent } from './event.ts'
import { evolveState } from './evolve-agent.ts'
import type { ForkedFrom } from './fork.ts'
import {
  type AgentState,
  type BranchState,
  NEW_AGENT,
  type Part,
  type TurnCause,
  type TurnReason,
} from './state.ts'

/** Tools of Reeve that change files, and the one that runs commands. */
const FILE_TOOLS: ReadonlySet<string> = new Set(['edit_file', 'write_file'])
const RUN_COMMAND = 'run_command'
/** Of a command line in a list. */
const MAX_COMMAND_CHARS = 200

/** A turn as a node of the tree of a session. */
export interface TreeTurn {
  readonly number: number
  readonly cause: TurnCause
  readonly beganAt: number
  /** The turn that it follows; null if it is the first of the session. */
  readonly parent: number | null
  /** The place of its first entry, and of the head before it. */
  readonly from: number
  readonly follows: number
  /** The state of the branch before it. */
  readonly before: BranchState
  /** Null while it is open. */
  readonly end: TurnEnd | null
  /** Its inputs, and where their parts are. */
  readonly inputs: readonly { readonly input: string; readonly seq: number }[]
  readonly modelCalls: number
  readonly toolCalls: number
  readonly commands: readonly string[]
}

interface TurnEnd {
  readonly reason: TurnReason
  readonly at: number
  /** The place of its last entry. */
  readonly place: number
  readonly state: BranchState
}

/** A write of a file, where it is in the log. */
export interface PlacedWrite extends FileWrite {
  readonly place: number
  readonly turn: number
}

/** A call of a file tool that was interrupted: whether it wrote is unknown. `path` is as the model gave it. */
interface UnverifiedWrite {
  readonly place: number
  readonly turn: number
  readonly path: string
}

type Mutable<Type> = { -readonly [Key in keyof Type]: Type[Key] }

/** All branches of a session, of its whole log in order. Earlier logs are placed (`placedEvent`). */
export class SessionTree {
  readonly turns = new Map<number, TreeTurn>()
  /** The turns at whose ends the labelled branches were left. */
  readonly labels = new Map<string, number>()
  readonly writes: PlacedWrite[] = []
  readonly unverified: UnverifiedWrite[] = []
  readonly #followed = new Set<number>()
  #state: AgentState = NEW_AGENT
  #tip: number | null = null
  #fork: ForkedFrom | null = null
  #open: Mutable<TreeTurn> | null = null
  readonly #calls = new Map<string, { readonly tool: string; readonly path: string | null }>()

  /** The last turn of the current branch; null before the first. */
  get tip(): number | null {
    return this.#tip
  }

  add(event: StoredEvent): void {
    const known = knownEvent(event)
    if (known === null || !isAgentEvent(known)) return
    if (known.type === 'session_continued') {
      this.#continued(known.payload, event.at)
      return
    }
    const before = branchStateOf(this.#state)
    const { head } = this.#state
    const { seq, at } = event
    this.#state = evolveState(this.#state, { ...known, seq, at })
    switch (known.type) {
      case 'turn_begun': {
        const { turn: number, cause } = known.payload
        this.#open = {
          ...{ number, cause, beganAt: at, parent: this.#tip, from: seq, follows: head, before, end: null },
          ...{ inputs: [], modelCalls: 0, toolCalls: 0, commands: [] },
        }
        break
      }
      case 'input_promoted':
        if (this.#open !== null) {
          const { input, seq: place } = known.payload
          this.#open.inputs = [...this.#open.inputs, { input, seq: place }]
        }
        break
      case 'model_call_begun':
        if (this.#open !== null) this.#open.modelCalls += 1
        break
      case 'tool_called':
        this.#called(known.payload)
        break
      case 'tool_answered':
        this.#answered(known.payload, seq)
        break
      case 'files_put_back': {
        const { turn, files } = known.payload
        for (const write of files) this.writes.push({ ...write, place: seq, turn })
        break
      }
      case 'turn_ended':
        this.#ended(known.payload.reason, seq, at)
        break
      case 'session_rewound': {
        const { label, left, last } = known.payload
        if (label !== undefined && left !== null) this.labels.set(label, left)
        this.#tip = last
        break
      }
    }
  }

  /** The turns of the branch that ends with this turn, the first one first. */
  pathTo(tip: number | null): readonly TreeTurn[] {
    const path: TreeTurn[] = []
    for (let number = tip; number !== null; ) {
      const turn = this.turns.get(number)
      if (turn === undefined) break
      path.push(turn)
      number = turn.parent
    }
    return path.reverse()
  }

  /** Whether a branch ends with this turn. */
  isLeaf(turn: number): boolean {
    return !this.#followed.has(turn)
  }

  /** What it says of earlier logs is known from them, but for what a fork does not take over. */
  #continued({ fork }: SessionContinued, at: number): void {
    // A session may branch in the middle of a turn, which has no end on this branch.
    if (this.#open !== null) this.#ended('cancelled', this.#state.head, at)
    if (fork === undefined || isSameFork(fork, this.#fork)) return
    this.#fork = fork
    // The other agent has changed these files, and may still work with them.
    this.writes.length = 0
    this.unverified.length = 0
  }

  #called({
    turn,
    call,
    index,
    tool,
    parts,
  }: {
    readonly turn: number
    readonly call: number
    readonly index: number
    readonly tool: string
    readonly parts: readonly Part[]
  }): void {
    if (this.#open === null) return
    this.#open.toolCalls += 1
    const { path, command, argv } = objectOf(parts[0]?.['input'])
    const line = Array.isArray(argv) ? argv.join(' ') : command
    const file = FILE_TOOLS.has(tool) && typeof path === 'string' ? path : null
    this.#calls.set(`${turn}.${call}.${index}`, { tool, path: file })
    if (tool === RUN_COMMAND && typeof line === 'string')
      this.#open.commands = [...this.#open.commands, line.slice(0, MAX_COMMAND_CHARS).toWellFormed()]
  }

  #answered(
    {
      turn,
      call,
      index,
      changes = [],
      interrupted,
      unverified,
    }: {
      readonly turn: number
      readonly call: number
      readonly index: number
      readonly changes?: readonly FileWrite[]
      readonly interrupted?: true
      readonly unverified?: true
    },
    place: number,
  ): void {
    const key = `${turn}.${call}.${index}`
    const { path = null } = this.#calls.get(key) ?? {}
    this.#calls.delete(key)
    for (const write of changes) this.writes.push({ ...write, place, turn })
    if ((interrupted ?? unverified) === true && path !== null) this.unverified.push({ place, turn, path })
  }

  /** A turn that was rolled back is on no branch. It has changed nothing. */
  #ended(reason: TurnReason, place: number, at: number): void {
    const open = this.#open
    this.#open = null
    this.#calls.clear()
    if (open === null || reason === 'rolled_back') return
    open.end = { reason, at, place, state: branchStateOf(this.#state) }
    this.turns.set(open.number, open)
    if (open.parent !== null) this.#followed.add(open.parent)
    this.#tip = open.number
  }
}

function isSameFork(fork: ForkedFrom, known: ForkedFrom | null): boolean {
  return fork.pid === known?.pid && fork.turn === known.turn
}

/** The part of a state that a rewind puts back. */
function branchStateOf({ segment, outputs, unanswered }: AgentState): BranchState {
  const { last: _, ...live } = segment
  return {
    segment: live,
    ...(outputs === undefined ? {} : { outputs }),
    ...(unanswered === undefined ? {} : { unanswered }),
  }
}

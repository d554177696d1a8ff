import { pathOfFile } from '../capability/file-path.ts'
import { type FileUndo, planUndo } from '../files/plan-undo.ts'
import type { ProcessRecord } from '../process/record.ts'
import { type Refusal, refusal } from '../refusal.ts'
import { asRanges, MAX_TURN_RANGES, type TurnRange } from './branch.ts'
import { invalidRequest } from './refusals.ts'
import type { RewindRequest } from './request.ts'
import type { PlacedWrite, SessionTree, TreeTurn } from './session-tree.ts'
import { type AgentState, type BranchState, NEW_AGENT } from './state.ts'

/** Paths and command lines that an answer names. The rest is counted. */
const MAX_NAMED_FILES = 100
const MAX_NAMED_COMMANDS = 20

/** The session before a turn, or at the end of a branch: its label, or the number of its last turn. */
export type RewindTo = { readonly turn: number } | { readonly branch: string }

/** The payload of a rewind. Turns are named by their numbers; null: none. */
export interface SessionRewound extends BranchState {
  /** The head before and after it. */
  readonly from: number
  readonly to: number
  /** The last turn of the branch that it left, and of the current one. */
  readonly left: number | null
  readonly last: number | null
  /** The turns of the current branch. */
  readonly turns: readonly TurnRange[]
  /** Of the branch that it left. */
  readonly label?: string
  readonly undone: Undone
}

/** What the turns did that are not on the branch any more. It is done: only files are put back, and only on request. */
export interface Undone {
  readonly turns: number
  /** Turns of a branch that is selected again. */
  readonly selected: number
  readonly modelCalls: number
  readonly toolCalls: number
  /** The files that file tools have written since then, also in turns of other branches. */
  readonly files: Named
  /** The command lines that these turns have run. Their changes of files are not known. */
  readonly commands: Named
}

interface Named {
  readonly count: number
  readonly first: string[]
}

/** The input of the first turn that is undone, for editing. `seq`: where its parts are. */
export interface RemovedInput {
  readonly turn: number
  readonly input: string
  readonly seq: number
}

/** Where a rewind goes, as the log says. It is read before the decision, up to `revision`. */
export interface RewindTarget {
  readonly revision: number
  readonly to: number
  readonly left: number | null
  readonly last: number | null
  readonly turns: readonly TurnRange[]
  readonly state: BranchState
  readonly undone: Undone
  readonly removed: RemovedInput | null
  /** File changes behind this place are undone. */
  readonly since: number
  /** The turn whose branch has the label already. */
  readonly labelled: number | null
}

/** `beginning`: the place before the first event of the session. */
export function findTarget(
  tree: SessionTree,
  { pid, agent, revision }: Pick<ProcessRecord, 'pid' | 'agent' | 'revision'>,
  { to, label }: Pick<RewindRequest, 'to' | 'label'>,
  beginning: number,
): RewindTarget | Refusal {
  const found = 'turn' in to ? beforeTurn(tree, to.turn, beginning) : endOfBranch(tree, to.branch)
  if (found === null) return unknownPlace(pid, to)
  const { tip, place, state, since } = found
  const was = tree.pathTo(tree.tip)
  const path = tree.pathTo(tip)
  const kept = new Set(path.map(({ number }) => number))
  const had = new Set(was.map(({ number }) => number))
  const undone = was.filter(({ number }) => !kept.has(number))
  const first = undone.find(({ inputs }) => inputs.length > 0)
  const [input] = first?.inputs ?? []
  return {
    revision,
    to: tip === tree.tip ? (agent ?? NEW_AGENT).head : place,
    left: tree.tip,
    last: tip,
    turns: asRanges([...kept]),
    state,
    undone: {
      turns: undone.length,
      selected: path.filter(({ number }) => !had.has(number)).length,
      modelCalls: sum(undone, ({ modelCalls }) => modelCalls),
      toolCalls: sum(undone, ({ toolCalls }) => toolCalls),
      files: named(filesOf(writesSince(tree, since)), MAX_NAMED_FILES),
      commands: named(
        undone.flatMap(({ commands }) => commands),
        MAX_NAMED_COMMANDS,
      ),
    },
    removed: first === undefined || input === undefined ? null : { turn: first.number, ...input },
    since,
    labelled: label === undefined ? null : (tree.labels.get(label) ?? null),
  }
}

/** What becomes of the files that the agent has written behind a place. */
export function undoSince(tree: SessionTree, since: number, cwd: string | null): readonly FileUndo[] {
  const unverified = tree.unverified.filter(({ place }) => place > since)
  return planUndo(
    writesSince(tree, since),
    // As models wrote them: with links they name another file, which is then not the last thing that wrote it.
    unverified.map(({ path }) => pathOfFile(path, { cwd, workspace: null }) ?? path),
  )
}

function writesSince(tree: SessionTree, since: number): readonly PlacedWrite[] {
  return tree.writes.filter(({ place }) => place > since)
}

/** Why a branch cannot be left or selected so. */
export function refuseTarget(
  record: ProcessRecord,
  { label, undoFiles }: RewindRequest,
  target: RewindTarget,
): Refusal | undefined {
  const { to, turns, labelled, left } = target
  const { agent } = record
  if (agent?.head === to && undoFiles !== true)
    return invalidRequest(
      record,
      'its session is there already',
      'Name an earlier turn or another branch; or undo the changes of files since then.',
    )
  if (label !== undefined && labelled !== null)
    return invalidRequest(
      record,
      `a branch has the label ${JSON.stringify(label)} already: that of turn ${labelled}`,
      'Choose another label.',
    )
  if (label !== undefined && left === null)
    return invalidRequest(record, 'its session has no turn, so no branch to label', 'Leave the label out.')
  if (turns.length <= MAX_TURN_RANGES) return undefined
  return refusal(
    'limit_exceeded',
    `The branch of ${record.pid} would have more than ${MAX_TURN_RANGES} pieces.`,
    'Rewind to an earlier turn, or start another agent.',
  )
}

/** The state after a rewind. What the session has used, and what waits for a turn, stays. */
export function afterRewind(agent: AgentState, rewound: SessionRewound, seq: number): AgentState {
  const { outputs: _, unanswered: __, ...rest } = agent
  const { to, turns, segment, outputs, unanswered } = rewound
  const used = Math.max(agent.segment.number, agent.segment.last ?? 0)
  return {
    ...rest,
    head: to,
    segment: used > segment.number || segment.from === 0 ? { ...segment, last: used } : segment,
    branch: { at: seq, turns, through: agent.turns },
    stall: [],
    goal: null,
    ...(outputs === undefined ? {} : { outputs }),
    ...(unanswered === undefined ? {} : { unanswered }),
  }
}

interface Place {
  readonly tip: number | null
  readonly place: number
  readonly state: BranchState
  readonly since: number
}

function beforeTurn(tree: SessionTree, number: number, beginning: number): Place | null {
  const turn = tree.turns.get(number)
  if (turn === undefined) return null
  const { parent, before, from } = turn
  const place = parent === null ? null : tree.turns.get(parent)?.end?.place
  return { tip: parent, place: place ?? beginning, state: before, since: from }
}

function endOfBranch(tree: SessionTree, branch: string): Place | null {
  const number = tree.labels.get(branch) ?? (/^\d{1,9}$/.test(branch) ? Number(branch) : null)
  const turn = number === null ? undefined : tree.turns.get(number)
  if (turn?.end == null) return null
  const { place, state } = turn.end
  return { tip: turn.number, place, state, since: place }
}

function unknownPlace(pid: string, to: RewindTo): Refusal {
  const what = 'turn' in to ? `turn ${to.turn}` : `branch ${JSON.stringify(to.branch)}`
  return refusal(
    'not_found',
    `${pid} has no ${what}.`,
    'List the turns and the branches that it can be rewound to.',
  )
}

function filesOf(writes: readonly PlacedWrite[]): readonly string[] {
  return [...new Set(writes.map(({ path }) => path))].toSorted()
}

function named(all: readonly string[], most: number): Named {
  return { count: all.length, first: all.slice(0, most) }
}

function sum(turns: readonly TreeTurn[], of: (turn: TreeTurn) => number): number {
  return turns.reduce((total, turn) => total + of(turn), 0)
}

import { loadParts } from '../agent/parts/stored-parts.ts'
import { refuseRewindList } from '../core/agent/decide-rewind.ts'
import { textOf } from '../core/agent/prompt.ts'
import { fatesOf } from '../core/agent/put-back.ts'
import { notAnAgent } from '../core/agent/refusals.ts'
import type { AgentAnswer } from '../core/agent/request.ts'
import { undoSince } from '../core/agent/rewind.ts'
import type { SessionTree, TreeTurn } from '../core/agent/session-tree.ts'
import { NEW_AGENT, type Part } from '../core/agent/state.ts'
import { RefusedError } from '../core/errors.ts'
import { objectOf } from '../core/json/json.ts'
import type { ProcessRecord } from '../core/process/record.ts'
import { refusal } from '../core/refusal.ts'
import { type ReadSession, readSession } from '../kernel/rewind.ts'
import { SessionLog } from '../kernel/session-log.ts'
import type { OutputOf } from '../verbs/reeve.ts'
import { type ActionParts, type ActionsFor, finderFor, readerFor, throwIfRefused } from './action.ts'

type Rewound = Extract<AgentAnswer, { type: 'rewound' }>
type Points = OutputOf<'rewindPoints'>

/** Of an input in the list. */
const MAX_TEXT_CHARS = 200
const MAX_BRANCHES = 1_000

/** Sessions of agents that go back. The rules are in `core/agent/rewind.ts`. */
export function rewindActions(parts: ActionParts): ActionsFor<'rewindAgent' | 'rewindPoints'> {
  const { kernel, actor, agents } = parts
  const { store } = kernel.edges
  const find = finderFor(parts)
  const read = readerFor(parts)
  return {
    async rewindAgent({ pid: text, id, turn, branch, dryRun = false, ...more }) {
      const to = branch === undefined ? { turn: turn ?? 0 } : { branch }
      const request = { type: 'rewind', id: id ?? kernel.edges.newId(), to, ...more } as const
      const pid = await find(text)
      if (!dryRun) {
        const answer = rewoundIn(await kernel.agents.request(pid, actor, request))
        const record = await read(pid)
        const log = new SessionLog(store, record.pid, record.agent?.earlier)
        return { ...answer, removed: await withParts(answer, log), fileFates: null }
      }
      const { answer, since } = await kernel.agents.previewRewind(pid, actor, request)
      const record = await read(pid)
      if (agents === undefined) throw new RefusedError(noAgents())
      if (!kernel.isHere(record.placement)) throw new RefusedError(elsewhere(record))
      const { tree, log } = await readSession(store, record)
      const fates = await agents.undoFates(record, undoSince(tree, since, record.cwd), actor)
      const removed = await withParts(answer, log)
      return { ...answer, type: 'would_rewind', removed, fileFates: fatesOf(fates) }
    },
    async rewindPoints({ pid, before, limit }) {
      const record = await read(pid)
      if (record.agent === null) throw new RefusedError(notAnAgent(record))
      throwIfRefused(refuseRewindList(record))
      return pointsOf(parts, record, { before: before ?? Number.MAX_SAFE_INTEGER, limit })
    },
  }

  async function withParts(
    { removed }: Rewound,
    log: ReadSession['log'],
  ): Promise<OutputOf<'rewindAgent'>['removed']> {
    return removed === null ? null : { ...removed, parts: [...(await partsAt(store, log, removed.seq))] }
  }
}

async function pointsOf(
  { kernel }: ActionParts,
  record: ProcessRecord,
  { before, limit }: { readonly before: number; readonly limit: number },
): Promise<Points> {
  const { store } = kernel.edges
  const { tree, log } = await readSession(store, record)
  const path = tree.pathTo(tree.tip)
  const earlier = path.filter(({ number }) => number < before).toReversed()
  const shown = earlier.slice(0, limit)
  const turns = await Promise.all(
    shown.map(async (turn) => pointOf(tree, turn, await inputText(store, log, turn))),
  )
  return {
    head: (record.agent ?? NEW_AGENT).head,
    turns,
    next: earlier.length > limit ? (shown.at(-1)?.number ?? null) : null,
    branches: branchesOf(tree, path),
  }
}

function pointOf(tree: SessionTree, turn: TreeTurn, text: string): Points['turns'][number] {
  const { number, cause, beganAt, end, modelCalls, toolCalls } = turn
  const files = new Set(tree.writes.filter((write) => write.turn === number).map(({ path }) => path))
  const reason = end?.reason ?? 'crashed'
  return { turn: number, cause, beganAt, reason, text, modelCalls, toolCalls, files: files.size }
}

function branchesOf(tree: SessionTree, current: readonly TreeTurn[]): Points['branches'] {
  const here = new Set(current.map(({ number }) => number))
  const labels = new Map([...tree.labels].map(([label, turn]) => [turn, label]))
  // A labelled place is selectable, also if other turns follow it.
  const ends = [...tree.turns.values()].filter(({ number }) => tree.isLeaf(number) || labels.has(number))
  return ends
    .filter(({ number }) => !here.has(number) || labels.has(number))
    .toReversed()
    .slice(0, MAX_BRANCHES)
    .map(({ number, end }) => {
      const path = tree.pathTo(number)
      const own = path.filter((turn) => !here.has(turn.number))
      const from = path.findLast((turn) => here.has(turn.number))?.number ?? null
      return {
        last: number,
        label: labels.get(number) ?? null,
        turns: own.length,
        from,
        endedAt: end?.at ?? 0,
      }
    })
}

async function inputText(
  store: ActionParts['kernel']['edges']['store'],
  log: ReadSession['log'],
  { inputs: [input] }: TreeTurn,
): Promise<string> {
  if (input === undefined) return ''
  const text = textOf(await partsAt(store, log, input.seq))
  return text.length <= MAX_TEXT_CHARS ? text : `${text.slice(0, MAX_TEXT_CHARS).toWellFormed()}…`
}

async function partsAt(
  { blobs }: ActionParts['kernel']['edges']['store'],
  log: ReadSession['log'],
  place: number,
): Promise<readonly Part[]> {
  const event = await log.at(place)
  const { parts } = objectOf(event?.payload)
  return loadParts(blobs, (parts ?? []) as readonly Part[])
}

function rewoundIn(answer: AgentAnswer): Rewound {
  if (answer.type !== 'rewound') throw new Error(`The answer to a rewind is ${answer.type}`)
  return answer
}

function elsewhere({ pid, placement }: ProcessRecord) {
  return refusal(
    'owned_elsewhere',
    `${pid} belongs to ${placement}, and its folder is there.`,
    'Ask the daemon of that machine.',
  )
}

function noAgents() {
  return refusal('not_available', 'This program drives no agents.', 'Ask a daemon that does.')
}

import type { AgentAnswer, RewindRequest } from '../core/agent/request.ts'
import { findTarget, type RewindTarget } from '../core/agent/rewind.ts'
import { SessionTree } from '../core/agent/session-tree.ts'
import { NEW_AGENT, phaseOf } from '../core/agent/state.ts'
import { RefusedError } from '../core/errors.ts'
import { decide } from '../core/process/decide.ts'
import type { Intent } from '../core/process/intent.ts'
import type { ProcessRecord } from '../core/process/record.ts'
import { isRefusal, type Refusal, refusal } from '../core/refusal.ts'
import type { Store } from '../store/contract.ts'
import type { Edges } from './edges.ts'
import { type Performed, perform } from './perform.ts'
import { permitSignal } from './permit-signal.ts'
import { SessionLog } from './session-log.ts'

/** An idle agent has hardly any events: each attempt means that one came while its log was read. */
const MAX_READS = 5

type Asked = Extract<Intent, { type: 'agent_request' }>

/** A rewind: the log is read first, and the decision holds if nothing was added meanwhile. */
export async function performRewind(
  edges: Edges,
  { request, ...asked }: Asked & { readonly request: RewindRequest },
): Promise<Performed> {
  for (let reads = 1; ; reads++) {
    const target = await targetOf(edges.store, asked.pid, request)
    const performed = await perform(edges, {
      ...asked,
      request,
      ...(target === undefined ? {} : { target }),
    })
    const hasGoneOn =
      performed.type === 'refused' &&
      performed.refusal.code === 'conflict' &&
      'revision' in (performed.refusal.details ?? {})
    if (!hasGoneOn || reads === MAX_READS) return performed
  }
}

/** Undefined where the state refuses it anyway: then the log is not read. */
async function targetOf(
  store: Store,
  pid: string,
  request: RewindRequest,
): Promise<RewindTarget | Refusal | undefined> {
  const row = await store.ask({ ask: 'process', pid })
  if (row === null || row.record.agent === null || phaseOf(row.record) !== 'idle') return undefined
  const { tree, beginning } = await readSession(store, row.record)
  return findTarget(tree, row.record, request, beginning)
}

export interface ReadSession {
  readonly tree: SessionTree
  /** The place before its first event. */
  readonly beginning: number
  readonly log: SessionLog
}

/** Reads the whole log of a session, also the earlier logs that it continues, up to the revision of the record. */
export async function readSession(
  store: Store,
  { pid, agent, revision }: Pick<ProcessRecord, 'pid' | 'agent' | 'revision'>,
): Promise<ReadSession> {
  const { earlier } = agent ?? NEW_AGENT
  const log = new SessionLog(store, pid, earlier)
  const tree = new SessionTree()
  const hasEarlier = earlier !== undefined && earlier.length > 0
  for (let place = log.beginning; place < revision; ) {
    const events = await log.after(place)
    const last = events.at(-1)
    if (last === undefined) break
    for (const event of events) if (event.seq <= revision) tree.add(event)
    place = last.seq
  }
  return { tree, beginning: hasEarlier ? log.beginning : 0, log }
}

export interface RewindPreview {
  readonly answer: Extract<AgentAnswer, { type: 'rewound' }>
  /** File changes behind this place would be undone. */
  readonly since: number
}

/** The decision about a rewind, which is not written. */
export async function previewRewind(
  edges: Edges,
  intent: Asked & { readonly request: RewindRequest },
): Promise<RewindPreview> {
  const { pid, actor, request } = intent
  const row = await edges.store.ask({ ask: 'process', pid })
  if (row === null)
    throw new RefusedError(refusal('unknown_pid', `There is no process ${pid}.`, 'List the processes.'))
  await permitSignal(edges, actor, 'rewindAgent', row.record)
  const target = await targetOf(edges.store, pid, request)
  // Files may be looked at without a move of the head.
  const asked = { ...intent, request: { ...request, undoFiles: true } }
  const known =
    target === undefined || isRefusal(target) ? target : { ...target, revision: row.record.revision }
  const decision = decide(
    { row, replayed: null },
    { ...asked, ...(known === undefined ? {} : { target: known }) },
    edges.rules,
  )
  if (decision.type === 'refuse') throw new RefusedError(decision.refusal)
  const answer = decision.type === 'append' ? decision.answer : undefined
  if (answer?.type !== 'rewound' || known === undefined || isRefusal(known))
    throw new Error(`A rewind of ${pid} without an answer`)
  return { answer: { ...answer, turn: null, head: known.to }, since: known.since }
}

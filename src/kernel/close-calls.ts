import { type ToolCallRef, toolCallName } from '../core/agent/state.ts'
import { isDenial } from '../core/audit/denial.ts'
import { awaitsApproval } from '../core/process/gate.ts'
import type { Intent } from '../core/process/intent.ts'
import type { Pid } from '../core/process/pid.ts'
import { hasEnded, type ProcessRecord, targetOf } from '../core/process/record.ts'
import { processToolOf } from '../core/tool/built-in-name.ts'
import { refusalChanges } from './audit.ts'
import { closedCallReason } from './carry.ts'
import type { Edges } from './edges.ts'
import { type Performed, perform, performOne } from './perform.ts'
import { WorkingRows } from './working-rows.ts'

type RequestIntent = Extract<Intent, { type: 'agent_request' }>

interface WaitingCall {
  readonly ref: ToolCallRef
  /** What waits for the approval: the process of the call, or the command that is its whole effect. */
  readonly process: Pid
}

const RUN_COMMAND = processToolOf('run_command')

/**
 * Performs a request that may close tool calls of an agent. A call that waits for an approval, or whose command does, is withdrawn in the
 * same transaction: no approval can begin it any more, so its result says that it never ran.
 */
export async function performClosing(edges: Edges, self: string, asked: RequestIntent): Promise<Performed> {
  const waiting = await waitingCalls(edges, asked.pid)
  if (waiting.length === 0) return perform(edges, asked)
  const performed = await edges.store.write<Performed>(function* () {
    const rows = new WorkingRows()
    const found = yield* rows.processes(waiting.map(({ process }) => process))
    const withdrawn = waiting.filter((_, index) => {
      const row = found[index] ?? null
      return row !== null && awaitsApproval(row.record) && !hasEnded(row.record)
    })
    const intent: RequestIntent = { ...asked, neverBegan: withdrawn.map(({ ref }) => ref) }
    const answer = yield* performOne(edges, rows, intent)
    if (answer.type === 'refused') {
      const { actor, at, type: action, pid } = asked
      const act = { actor, at, action, target: `process:${pid}` }
      return { answer, changes: yield* refusalChanges(edges, answer.refusal, act) }
    }
    const closed = answer.type === 'appended' && 'interrupts' in (answer.answer ?? {}) ? withdrawn : []
    for (const { process: pid } of closed) {
      const reason = closedCallReason(asked.pid)
      const stop = { how: 'interrupt', reason, cause: asked.pid, replayKey: 'closed' } as const
      yield* performOne(edges, rows, { type: 'stop', pid, actor: `kernel:${self}`, at: asked.at, ...stop })
    }
    return { answer, changes: rows.changes }
  })
  if (performed.type === 'refused' && isDenial(performed.refusal)) edges.onAudited?.()
  return performed
}

/** The open tool calls whose processes, or whose commands, wait for an approval. */
async function waitingCalls(edges: Edges, pid: Pid): Promise<readonly WaitingCall[]> {
  const row = await edges.store.ask({ ask: 'process', pid })
  const turn = row?.record.agent?.turn ?? null
  if (turn === null || turn.tools.length === 0) return []
  const refs = new Map(
    turn.tools.map(({ call, index }) => {
      const ref = { turn: turn.number, call, index }
      return [toolCallName(pid, ref), ref] as const
    }),
  )
  const { items } = await edges.store.ask({
    ask: 'processes',
    filter: { parent: [pid], kind: ['tool'], owner: { toolCall: [...refs.keys()] } },
    after: null,
    limit: refs.size,
  })
  const calls = items.flatMap(({ record }) => {
    const ref = refs.get(record.owner.toolCall ?? '')
    return ref === undefined ? [] : [{ ref, record }]
  })
  const waiting = calls.filter(({ record }) => awaitsApproval(record))
  const running = calls.filter(
    ({ record }) => !awaitsApproval(record) && targetOf('tool', record.spec) === RUN_COMMAND,
  )
  return [
    ...waiting.map(({ ref, record }) => ({ ref, process: record.pid })),
    ...(await waitingCommands(edges, running)),
  ]
}

/** A call of `run_command` starts one command, and has no other effect. */
async function waitingCommands(
  edges: Edges,
  calls: readonly { readonly ref: ToolCallRef; readonly record: ProcessRecord }[],
): Promise<readonly WaitingCall[]> {
  if (calls.length === 0) return []
  const { items } = await edges.store.ask({
    ask: 'processes',
    filter: { parent: calls.map(({ record }) => record.pid), kind: ['command'] },
    after: null,
    limit: calls.length,
  })
  return items.flatMap(({ record: command }) => {
    const call = calls.find(({ record }) => record.pid === command.parent)
    return call !== undefined && awaitsApproval(command) ? [{ ref: call.ref, process: command.pid }] : []
  })
}

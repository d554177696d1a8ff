import { fatesIn, MAX_NAMED_FATES } from '../core/agent/put-back.ts'
import { undoSince } from '../core/agent/rewind.ts'
import type { FileWrite } from '../core/files/file-write.ts'
import type { LeftFile } from '../core/files/plan-undo.ts'
import { asJson, type Json } from '../core/json/json.ts'
import { knownEvent } from '../core/process/event.ts'
import type { Actor, ProcessRecord } from '../core/process/record.ts'
import { readSession } from '../kernel/rewind.ts'
import type { AgentLedger } from './agent-ledger.ts'
import type { AgentParts } from './agent-parts.ts'

interface UndoParts {
  readonly ledger: AgentLedger
  readonly toolbox: AgentParts['toolbox']
}

/**
 * Puts back the files that the agent has changed behind a place. Each is recorded when it is written; after a crash the work begins again with
 * what the log then says is left, and finds on disk which file was written last.
 */
export async function undoFiles(
  { ledger, toolbox }: UndoParts,
  record: ProcessRecord,
  { turn, since, asker }: { readonly turn: number; readonly since: number; readonly asker: Actor },
  signal: AbortSignal,
): Promise<void> {
  const { tree } = await readSession(ledger.kernel.edges.store, record)
  const left: LeftFile[] = []
  for (const undo of undoSince(tree, since, record.cwd)) {
    if (signal.aborted) return
    const answer = undo.type === 'left' ? undo : await toolbox.putBack?.(record, undo, asker)
    if (answer?.type === 'put_back') await note(ledger, turn, answer.write)
    else left.push(answer ?? { type: 'left', path: undo.path, why: 'failed' })
  }
  if (signal.aborted) return
  const named = left.slice(0, MAX_NAMED_FATES)
  const more = left.length - named.length
  const end = { left: named, ...(more === 0 ? {} : { more }) }
  await ledger.act({ type: 'put_back', turn, files: [], ...end, key: 'end' })
}

async function note(ledger: AgentLedger, turn: number, write: FileWrite): Promise<void> {
  await ledger.act({ type: 'put_back', turn, files: [write], key: write.path })
}

/** The result of the turn: what has become of each file. */
export async function undoResult(ledger: AgentLedger, turn: number, from: number): Promise<Json> {
  const recorded = []
  const { store } = ledger.kernel.edges
  for (let after = from; ; ) {
    const events = await store.ask({
      ask: 'events',
      pid: ledger.pid,
      after,
      limit: 1_000,
      bytes: 8 * 1024 * 1024,
    })
    const last = events.at(-1)
    if (last === undefined) break
    for (const event of events) {
      const known = knownEvent(event)
      if (known?.type === 'files_put_back' && known.payload.turn === turn) recorded.push(known.payload)
    }
    after = last.seq
  }
  return asJson(fatesIn(recorded))
}

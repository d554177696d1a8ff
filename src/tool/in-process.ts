import type { Variables } from '../core/environment/secrets.ts'
import type { Pid } from '../core/process/pid.ts'
import type { ProcessRecord } from '../core/process/record.ts'
import type { Executor, Work } from '../kernel/executor.ts'
import type { Kernel } from '../kernel/kernel.ts'
import { sendMessage } from '../kernel/send-message.ts'
import type { InputOf } from '../verbs/reeve.ts'
import { HandlerContext } from './context.ts'
import type { ToolLedger } from './ledger.ts'
import { runHandler } from './run-handler.ts'
import { type ServedTool, ServedTools } from './served-tools.ts'

/** Spawns a child of the process of `work`, through the same verb and checks as any other spawn. */
export type SpawnAs = (work: Work, request: InputOf<'spawn'>) => Promise<ProcessRecord>

/** The variables that a process runs with. Throws if a secret is not set. */
export type VariablesOf = (record: ProcessRecord, kernel: Kernel, signal: AbortSignal) => Promise<Variables>

/** Executes `tool` processes with functions of this program. Tools may be added at any time. */
export class Tools implements Executor {
  readonly #tools = new ServedTools()
  readonly #spawnAs: SpawnAs
  readonly #variablesOf: VariablesOf

  constructor(spawnAs: SpawnAs, variablesOf: VariablesOf) {
    this.#spawnAs = spawnAs
    this.#variablesOf = variablesOf
  }

  get serves(): Executor['serves'] {
    return this.#tools.serves
  }

  add(name: string, tool: ServedTool): void {
    this.#tools.add(name, tool)
  }

  async run(work: Work, kernel: Kernel) {
    const handler = this.#tools.handlerOf(work.record)
    if (handler === undefined) throw new Error(`This kernel has no tool ${String(work.record.spec['tool'])}`)
    const env = await this.#variablesOf(work.record, kernel, work.signal)
    return runHandler(handler, new HandlerContext(ledgerOf(work, kernel, this.#spawnAs), env))
  }
}

function ledgerOf(work: Work, kernel: Kernel, spawnAs: SpawnAs): ToolLedger {
  const { record, signal } = work
  const { pid } = record
  const actor = `process:${pid}` as const
  return {
    record,
    signal,
    now: () => kernel.edges.clock.now(),
    async write(intent) {
      const { type } = await kernel.performAs(work, intent)
      return { isReplayed: type === 'replayed' }
    },
    spawn: (request, number) => spawnAs(work, { ...request, parent: pid, idempotencyKey: `child:${number}` }),
    async waitForEnd(other: Pid) {
      const waited = await kernel.waits.forEnd(other, { signal, waiter: work })
      if (waited.type !== 'done') throw signal.reason
      return waited.value.record
    },
    waitForAnswer: (wait, until) => kernel.waits.forAnswer(work, wait, until),
    sendMessage: async (sending) => void (await sendMessage(kernel, { actor, ...sending })),
    keyFor: (wait) => kernel.waits.keyOf(pid, wait),
    charge: async (charging) => void (await kernel.charge({ pid, actor, ...charging })),
    async untilResumed() {
      const row = await kernel.edges.store.ask({ ask: 'process', pid })
      if (row === null || row.record.status !== 'paused') return
      await kernel.waits.forEvent(
        pid,
        row.record.revision,
        (event) => event.type === 'resumed' || event.type === 'stop_requested',
        { signal, waiter: work },
      )
      signal.throwIfAborted()
    },
  }
}

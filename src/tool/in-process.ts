import type { Variables } from '../core/environment/secrets.ts'
import type { WaitRef } from '../core/process/intent.ts'
import type { Pid } from '../core/process/pid.ts'
import type { ProcessRecord } from '../core/process/record.ts'
import type { Answered } from '../kernel/await-answer.ts'
import type { Executor, Work } from '../kernel/executor.ts'
import type { Kernel } from '../kernel/kernel.ts'
import type { OwnIntent } from '../kernel/perform-as.ts'
import { sendMessage } from '../kernel/send-message.ts'
import type { InputOf } from '../verbs/reeve.ts'
import type { ChildOfTool } from '../verbs/tool-function.ts'
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
    return runHandler(handler, new HandlerContext(new WorkLedger(work, kernel, this.#spawnAs), env))
  }
}

/** A class, because every call of a tool makes one, and few calls use more than one method. */
class WorkLedger implements ToolLedger {
  readonly #work: Work
  readonly #kernel: Kernel
  readonly #spawnAs: SpawnAs

  constructor(work: Work, kernel: Kernel, spawnAs: SpawnAs) {
    this.#work = work
    this.#kernel = kernel
    this.#spawnAs = spawnAs
  }

  get record(): ProcessRecord {
    return this.#work.record
  }

  get signal(): AbortSignal {
    return this.#work.signal
  }

  now(): number {
    return this.#kernel.edges.clock.now()
  }

  async write(intent: OwnIntent) {
    const { type } = await this.#kernel.performAs(this.#work, intent)
    return { isReplayed: type === 'replayed' }
  }

  spawn(request: ChildOfTool, number: number): Promise<ProcessRecord> {
    const { pid: parent } = this.record
    return this.#spawnAs(this.#work, { ...request, parent, idempotencyKey: `child:${number}` })
  }

  async waitForEnd(other: Pid): Promise<ProcessRecord> {
    const { signal } = this
    const waited = await this.#kernel.waits.forEnd(other, { signal, waiter: this.#work })
    if (waited.type !== 'done') throw signal.reason
    return waited.value.record
  }

  waitForAnswer(wait: WaitRef, until: number | null): Promise<Answered> {
    return this.#kernel.waits.forAnswer(this.#work, wait, until)
  }

  async sendMessage(sending: Parameters<ToolLedger['sendMessage']>[0]): Promise<void> {
    await sendMessage(this.#kernel, { actor: `process:${this.record.pid}`, ...sending })
  }

  keyFor(wait: WaitRef): Promise<string> {
    return this.#kernel.waits.keyOf(this.record.pid, wait)
  }

  async charge(charging: Parameters<ToolLedger['charge']>[0]): Promise<void> {
    const { pid } = this.record
    await this.#kernel.charge({ pid, actor: `process:${pid}`, ...charging })
  }

  async untilResumed(): Promise<void> {
    const { signal, record } = this
    const row = await this.#kernel.edges.store.ask({ ask: 'process', pid: record.pid })
    if (row === null || row.record.status !== 'paused') return
    await this.#kernel.waits.forEvent(
      record.pid,
      row.record.revision,
      (event) => event.type === 'resumed' || event.type === 'stop_requested',
      { signal, waiter: this.#work },
    )
    signal.throwIfAborted()
  }
}

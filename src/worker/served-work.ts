import { checkOptions } from '../core/known-options.ts'
import type { Ending } from '../core/process/intent.ts'
import type { ProcessRecord } from '../core/process/record.ts'
import type { Attempt } from '../kernel/attempt.ts'
import type { Left, Parked } from '../kernel/executor.ts'
import { HandlerContext } from '../tool/context.ts'
import { runHandler } from '../tool/run-handler.ts'
import { ServedTools } from '../tool/served-tools.ts'
import type { ToolDefinition } from '../verbs/define-tool.ts'
import type { InputOf, Reeve } from '../verbs/reeve.ts'
import type { WorkflowFunction, WorkflowOptions } from '../verbs/workflow-function.ts'
import { AttemptWriter } from '../workflow/attempt-writer.ts'
import type { Ledger } from '../workflow/ledger.ts'
import { checkRetry } from '../workflow/retry.ts'
import { Run } from '../workflow/run.ts'
import { ServedFunctions } from '../workflow/served-functions.ts'
import { wireToolLedger } from './wire-tool-ledger.ts'

/** The workflows and tools that a worker serves, and their runs. */
export class ServedWork {
  readonly #reeve: Reeve
  readonly #functions = new ServedFunctions()
  readonly #tools = new ServedTools()
  readonly #runs = new Set<Run>()

  constructor(reeve: Reeve) {
    this.#reeve = reeve
  }

  get declarations(): Pick<InputOf<'announceWorker'>, 'workflows' | 'tools'> {
    return {
      workflows: [...this.#functions.names],
      tools: this.#tools.declarations.map((tool) => ({ ...tool })),
    }
  }

  get isEmpty(): boolean {
    return this.#functions.names.length + this.#tools.names.length === 0
  }

  /** Returns a function that removes it again. */
  addWorkflow(name: string, run: WorkflowFunction, options: WorkflowOptions): () => void {
    checkOptions(`The workflow ${name}`, options, ['retry', 'parkAfterMs', 'graceMs'])
    checkRetry(options.retry)
    this.#functions.add(name, { run, options })
    return () => this.#functions.remove(name)
  }

  /** Returns a function that removes it again. */
  addTool(tool: ToolDefinition): () => void {
    this.#tools.add(tool.name, tool)
    return () => this.#tools.remove(tool.name)
  }

  /** How long a stopped attempt has to clean up. */
  graceMs(record: ProcessRecord): number {
    return record.kind === 'tool' ? 0 : this.#functions.graceMs(record)
  }

  /** Undefined if this program does not serve the function. */
  run(attempt: Attempt, ledger: Ledger): Promise<Ending | Parked | Left | undefined> {
    return attempt.record.kind === 'tool'
      ? this.#runTool(attempt, ledger)
      : this.#runWorkflow(attempt.record, ledger)
  }

  /** Starts no further step. Resolves when the running steps are in the log, or after the grace period. */
  async drain(): Promise<void> {
    await Promise.all([...this.#runs].map((run) => run.drain()))
  }

  async #runWorkflow(record: ProcessRecord, ledger: Ledger): Promise<Ending | Parked | Left | undefined> {
    const served = this.#functions.functionOf(record)
    if (served === undefined) return undefined
    const run = new Run(ledger, served.options)
    this.#runs.add(run)
    try {
      return await run.run(served.run)
    } finally {
      this.#runs.delete(run)
    }
  }

  async #runTool(attempt: Attempt, ledger: Ledger): Promise<Ending | undefined> {
    const handler = this.#tools.handlerOf(attempt.record)
    if (handler === undefined) return undefined
    const writer = new AttemptWriter(ledger)
    try {
      await writer.leaseConfirmed
      const env = await writer.retryUntilDone(() => ledger.variables())
      const toolLedger = wireToolLedger(this.#reeve, attempt, ledger, writer)
      return await runHandler(handler, new HandlerContext(toolLedger, env))
    } finally {
      writer.close()
    }
  }
}

import type { Variables } from '../core/environment/secrets.ts'
import { RefusedError } from '../core/errors.ts'
import type { Pid } from '../core/process/pid.ts'
import type { ProcessRecord } from '../core/process/record.ts'
import { refusal } from '../core/refusal.ts'
import { awaiterOf } from '../kernel/awaiter-of.ts'
import type { Executor, Work } from '../kernel/executor.ts'
import type { Kernel } from '../kernel/kernel.ts'
import { PAGE_BYTES } from '../kernel/page.ts'
import { park } from '../kernel/park.ts'
import { refuseRead } from '../kernel/resolve.ts'
import { sendMessage } from '../kernel/send-message.ts'
import type { ChildToRegister, WorkflowFunction, WorkflowOptions } from '../verbs/workflow-function.ts'
import type { Ledger } from './ledger.ts'
import { Run } from './run.ts'
import { ServedFunctions } from './served-functions.ts'

/** Registers a child of `work`'s process, for the step `stepIndex`. */
export type SpawnStep = (work: Work, request: ChildToRegister, stepIndex: number) => Promise<ProcessRecord>

/** Resolves the variables that a process runs with. Throws if a secret is not set. */
export type VariablesOf = (record: ProcessRecord, kernel: Kernel, signal: AbortSignal) => Promise<Variables>

/** Events per query when a journal is read. */
const PAGE_EVENTS = 1_000

/** Executes `workflow` processes with functions of this program. Functions may be added at any time. */
export class Workflows implements Executor {
  readonly #functions = new ServedFunctions()
  readonly #spawn: SpawnStep
  readonly #variablesOf: VariablesOf
  readonly #runs = new Set<Run>()

  constructor(spawn: SpawnStep, variablesOf: VariablesOf) {
    this.#spawn = spawn
    this.#variablesOf = variablesOf
  }

  get serves(): Executor['serves'] {
    const { names } = this.#functions
    return names.length === 0 ? [] : [{ kind: 'workflow', targets: names }]
  }

  add(name: string, run: WorkflowFunction, options: WorkflowOptions = {}): void {
    this.#functions.add(name, { run, options })
  }

  async run(work: Work, kernel: Kernel) {
    const served = this.#functions.functionOf(work.record)
    if (served === undefined)
      throw new Error(`This kernel has no workflow ${String(work.record.spec['workflow'])}`)
    const run = new Run(ledgerOf(work, kernel, this.#spawn, this.#variablesOf), served.options)
    this.#runs.add(run)
    try {
      return await run.run(served.run)
    } finally {
      this.#runs.delete(run)
    }
  }

  graceMs(record: ProcessRecord): number {
    return this.#functions.graceMs(record)
  }

  async drain(): Promise<void> {
    await Promise.all([...this.#runs].map((run) => run.drain()))
  }
}

function ledgerOf(work: Work, kernel: Kernel, spawn: SpawnStep, variablesOf: VariablesOf): Ledger {
  const { edges, feed } = kernel
  const { store, clock } = edges
  const { record, signal } = work
  const { pid } = record
  const actor = `process:${pid}` as const
  const findOutcome = async (other: Pid) => {
    const row = await store.ask({ ask: 'process', pid: other })
    const denied =
      row === null
        ? refusal(
            'unknown_pid',
            `There is no process ${other}.`,
            'Wait for a process that exists, such as a spawned child.',
          )
        : await refuseRead(edges, awaiterOf(work), row.record)
    if (denied !== undefined) throw new RefusedError(denied)
    return row?.record.outcome ?? null
  }
  return {
    record,
    clock,
    signal,
    onRequest: (listener) => work.onRequest(listener),
    lendSlot: () => work.lendSlot(),
    async events(after) {
      const events = await store.ask({ ask: 'events', pid, after, limit: PAGE_EVENTS, bytes: PAGE_BYTES })
      return { events, isLast: events.length === 0 }
    },
    onEvents: (listener) => feed.on(pid, listener),
    async write(intent) {
      const done = await kernel.performAs(work, intent)
      return done.type === 'replayed' ? done : { type: done.type, at: done.row.record.updatedAt }
    },
    async spawn(request, stepIndex) {
      const child = await spawn(work, request, stepIndex)
      return { pid: child.pid, kind: child.kind, label: child.identity.label }
    },
    findOutcome,
    async waitForOutcome(other, over) {
      const waited = await kernel.waits.forEnd(other, { signal: over })
      if (waited.type !== 'done' || waited.value.record.outcome === null) throw over.reason
      return waited.value.record.outcome
    },
    park: (waits) => park(edges, work, waits),
    sure: () => kernel.sure(),
    keyFor: (wait) => kernel.waits.keyOf(pid, wait),
    charge: async (charging) => void (await kernel.charge({ pid, actor, ...charging })),
    sendMessage: async (sending) => void (await sendMessage(kernel, { actor, ...sending })),
    variables: () => variablesOf(record, kernel, signal),
    seed: async () => edges.sign(await store.ask({ ask: 'secret' }), `${pid}.chance`),
  }
}

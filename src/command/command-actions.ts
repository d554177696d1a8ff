import type { ResolvedAction } from '../core/capability/action.ts'
import type { Variables } from '../core/environment/secrets.ts'
import { StoreError } from '../core/errors.ts'
import type { ProcessRecord } from '../core/process/record.ts'
import type { SpawnPlan } from '../keeper/protocol/spawn-plan.ts'
import type { Work } from '../kernel/executor.ts'
import type { Kernel } from '../kernel/kernel.ts'
import { analyseUnstartable, resolveAction } from './resolve-action.ts'

export interface CommandActionsOptions {
  readonly plan: (record: ProcessRecord, kernel: Kernel) => Promise<SpawnPlan>
  /** The shell that runs the line of a command. */
  readonly shell: string
  /** The variables that every command of this host starts with. */
  readonly base: () => Promise<Readonly<Record<string, string | undefined>>>
}

/** The actions of commands on this host, for the rules: at the registration, and again at the start. */
export class CommandActions {
  readonly #options: CommandActionsOptions

  constructor(options: CommandActionsOptions) {
    this.#options = options
  }

  async resolve(record: ProcessRecord, kernel: Kernel): Promise<ResolvedAction> {
    const { plan, shell } = this.#options
    const base = await this.#base()
    const { envRef } = record
    const environment =
      envRef === null ? null : await kernel.edges.store.ask({ ask: 'environment', ref: envRef })
    try {
      return await resolveAction(record, await plan(record, kernel), { shell, base, environment })
    } catch (error) {
      if (error instanceof StoreError) throw error
      return analyseUnstartable(record, { shell, base, environment })
    }
  }

  /** Whether the action of a command is still the one that was approved or allowed. */
  async confirm(work: Work, plan: SpawnPlan, kernel: Kernel): Promise<boolean> {
    const { gate, ruledOn } = work.record
    if (gate === null && ruledOn === undefined) return true
    const { shell } = this.#options
    const action = await resolveAction(work.record, plan, { shell, base: await this.#base() })
    return kernel.approvals.confirm(work, action)
  }

  async #base(): Promise<Variables> {
    const known = Object.entries(await this.#options.base())
    return Object.fromEntries(known.flatMap(([name, value]) => (value === undefined ? [] : [[name, value]])))
  }
}

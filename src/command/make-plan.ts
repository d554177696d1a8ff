import type { Environment } from '../core/environment/environment.ts'
import type { ProcessRecord } from '../core/process/record.ts'
import type { SpawnPlan } from '../keeper/protocol/spawn-plan.ts'
import type { Kernel } from '../kernel/kernel.ts'
import type { Inherited } from '../verbs/shapes/inherited.ts'
import type { NamedSecrets } from './command-secrets.ts'
import { commandSpecOf } from './command-spec.ts'
import type { BaseEnvironment } from './environment/base.ts'
import type { InheritedEnvironments } from './environment/inherited.ts'
import type { PassedSecrets } from './environment/passed.ts'
import { withoutSecrets } from './environment/sanitise.ts'
import { planOf, type Settings } from './plan.ts'

/** Where the variables of a command come from. */
export interface VariableSources {
  readonly environment: BaseEnvironment
  readonly passed: PassedSecrets
  readonly inherited: InheritedEnvironments
}

/** Gathers the variables of a command, and makes the plan that its keeper is asked to start. */
export async function makePlan(
  record: ProcessRecord,
  kernel: Kernel,
  from: VariableSources & { readonly named: NamedSecrets; readonly settings: Settings },
): Promise<SpawnPlan> {
  const environment = await storedEnvironment(record.envRef, kernel)
  const { passEnv: named = [], inheritEnv } = commandSpecOf(record)
  const inherited = await from.inherited.ofStarting(record, kernel)
  // The client's value counts, even if the daemon has another one; a restart may bring another whole environment.
  const values = named.length === 0 ? {} : await from.passed.ofStarting(record, kernel)
  const base = inheritEnv === 'whole' ? {} : await from.environment.variables()
  const ofCaller =
    inheritEnv === 'whole' ? { ...values, ...inherited?.env } : { ...inherited?.env, ...values }
  const variables = { ...withoutSecrets({ ...base, ...values }, named), ...ofCaller }
  const given = { variables: from.named.variablesOf(environment), options: environment?.options ?? {} }
  return { ...planOf(record, variables, given, from.settings), ...withoutEnv(inherited) }
}

/** The names in `passEnv` for which there is no variable: the command runs without them. */
export async function missingEnv(
  record: ProcessRecord,
  kernel: Kernel,
  from: VariableSources,
): Promise<string[]> {
  const { passEnv = [] } = commandSpecOf(record)
  if (passEnv.length === 0) return []
  const sources = [
    await from.environment.variables(),
    await from.passed.of(record),
    (await from.inherited.of(record))?.env ?? {},
    (await storedEnvironment(record.envRef, kernel))?.variables ?? {},
  ]
  return passEnv.filter((name) => sources.every((variables) => variables[name] === undefined))
}

function withoutEnv(inherited: Inherited | null): Omit<Inherited, 'env'> {
  const { env: _, ...limits } = inherited ?? { env: {} }
  return limits
}

async function storedEnvironment(ref: string | null, kernel: Kernel): Promise<Environment | null> {
  return ref === null ? null : kernel.edges.store.ask({ ask: 'environment', ref })
}

import type { Pid } from '../core/process/pid.ts'
import type { Approvals } from './approvals.ts'
import { closeAuditWindows } from './audit.ts'
import type { Carriers } from './carriers.ts'
import type { Edges } from './edges.ts'
import type { Executions } from './executions.ts'
import type { Releases } from './overflow.ts'
import { type Recovering, type RecoveryReport, recover } from './recover.ts'
import type { Schedules } from './schedules.ts'
import type { Triggers } from './triggers.ts'

export interface SweepParts {
  readonly recovering: Recovering
  readonly executions: readonly Executions[]
  readonly carriers: Carriers
  readonly releases: Releases
  readonly approvals: Approvals
  readonly schedules: Schedules
  readonly triggers: Triggers
}

const PAGE = 500

/** Recovers from dead holders, carries on the stops of crashed kernels, closes windows of the audit, and looks for work. */
export async function sweep(edges: Edges, parts: SweepParts): Promise<RecoveryReport> {
  const { recovering, executions, carriers, releases, approvals, schedules, triggers } = parts
  const adopted: Pid[] = []
  for (const one of executions) adopted.push(...(await one.adopt()))
  const report = await recover(edges, recovering)
  report.adopted.push(...adopted)
  for (const scope of await edges.store.ask({ ask: 'carryingScopes', limit: PAGE })) {
    if ('session' in scope) await carriers.session(scope.session)
    else await carriers.turn(scope.turn)
  }
  const carrying = await edges.store.ask({ ask: 'carrying', after: null, limit: PAGE })
  for (const row of carrying.items) carriers.carryOn(row)
  await releases.look()
  await approvals.expireDue()
  approvals.settleCovered()
  await schedules.registerAllOpen()
  await triggers.sweep()
  await closeAuditWindows(edges)
  // Other kernels of the store append, too.
  edges.onAudited?.()
  for (const one of executions) one.look()
  return report
}

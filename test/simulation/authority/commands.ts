import type { ResolvedAction } from '../../../src/core/capability/action.ts'
import type { Clock } from '../../../src/core/clock.ts'
import type { Executor } from '../../../src/kernel/executor.ts'
import type { ActLog } from './act-log.ts'
import type { AllowedCommands } from './allowed-commands.ts'
import type { ApprovalLog } from './approval-log.ts'
import { argvOf, type Machine } from './machine.ts'

export interface CommandHost {
  readonly machine: Machine
  readonly approvals: ApprovalLog
  readonly acts: ActLog
  readonly allowed: AllowedCommands
  readonly clock: Clock
  turn(): Promise<void>
}

/** Runs commands without programs: resolves them as their machine is now, asks again if that has changed, and counts their begins. */
export function commands(host: CommandHost): Executor {
  return {
    serves: [{ kind: 'command', targets: null }],
    async resolve(record): Promise<ResolvedAction> {
      await host.turn()
      const resolved = host.machine.resolve(record)
      host.acts.resolved(record, resolved)
      return resolved
    },
    async run(work, kernel) {
      await host.turn()
      const { record } = work
      const { clock, machine, allowed } = host
      const resolved = machine.resolve(record)
      host.acts.resolved(record, resolved)
      const looked = allowed.looksAt(record, resolved, machine.host, clock.now())
      if (
        (record.gate !== null || record.ruledOn !== undefined) &&
        !(await kernel.approvals.confirm(work, resolved))
      )
        return { status: 'parked' }
      if (work.signal.aborted) throw work.signal.reason
      allowed.begins(record, resolved, machine.host, clock.now(), looked)
      host.approvals.begins(record.pid, machine.host, resolved, argvOf(record))
      for (let turn = 0; turn < 2; turn++) {
        await host.turn()
        if (work.signal.aborted) throw work.signal.reason
      }
      return { status: 'completed', exitCode: 0 }
    },
  }
}

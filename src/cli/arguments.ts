import type { Context } from './context.ts'
import type { Subcommand } from './subcommand.ts'
import { UsageError } from './usage-error.ts'

type Named = Pick<Subcommand, 'name'>

/** Refuses surplus arguments, rather than ignoring them. */
export function refuseExtraArguments({ args }: Context<unknown>, { name }: Named, most = 0): void {
  if (args.length <= most) return
  const more = most === 0 ? 'no arguments' : `${most} argument${most === 1 ? '' : 's'}`
  throw new UsageError(
    `reeve ${name} takes ${more}. Unexpected: ${args.slice(most).join(' ')}.`,
    `Run reeve ${name} --help for its usage.`,
  )
}

export function requireProcess(context: Context<unknown>, named: Named, most = 1): string {
  refuseExtraArguments(context, named, most)
  const [pid] = context.args
  if (pid !== undefined) return pid
  throw missingProcess(named)
}

export function requireProcesses({ args }: Context<unknown>, named: Named): readonly string[] {
  if (args.length === 0) throw missingProcess(named)
  return args
}

function missingProcess({ name }: Named): UsageError {
  return new UsageError(
    `reeve ${name} needs a process: a pid, the beginning of one, or a name.`,
    'Run reeve ps to see them.',
  )
}

import type { Context } from './context.ts'
import type { Subcommand } from './subcommand.ts'
import { UsageError } from './usage-error.ts'

type Named = Pick<Subcommand, 'name'>

/** Refuses surplus arguments, rather than ignoring them. */
export function nothingMore({ args }: Context<unknown>, { name }: Named, most = 0): void {
  if (args.length <= most) return
  const more = most === 0 ? 'nothing more' : `${most} argument${most === 1 ? '' : 's'}`
  throw new UsageError(
    `reeve ${name} takes ${more}, and was given ${args.slice(most).join(' ')}.`,
    `Run reeve ${name} --help for what it takes.`,
  )
}

export function oneProcess(context: Context<unknown>, named: Named, most = 1): string {
  nothingMore(context, named, most)
  const [pid] = context.args
  if (pid !== undefined) return pid
  throw noProcess(named)
}

export function someProcesses({ args }: Context<unknown>, named: Named): readonly string[] {
  if (args.length === 0) throw noProcess(named)
  return args
}

function noProcess({ name }: Named): UsageError {
  return new UsageError(
    `reeve ${name} needs a process: a pid, the beginning of one, or a name.`,
    'Run reeve ps to see them.',
  )
}

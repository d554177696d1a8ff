import { isGiven } from './stray-options.ts'
import type { Subcommand } from './subcommand.ts'
import { UsageError } from './usage-error.ts'

/** Refuses options that the action, which the first argument names, does not take. */
export function refuseUntaken({ name, takes, options: specs }: Subcommand, { options, args }: Given): void {
  if (takes === undefined) return
  const [first = ''] = args
  const action = Object.hasOwn(takes, first) ? first : OTHERWISE
  const taken = takes[action] ?? []
  const values = new Map(Object.entries(options))
  const stray = Object.keys(specs).find((option) => !taken.includes(option) && isGiven(values.get(option)))
  if (stray === undefined) return
  const called = (one: string) => (one === OTHERWISE || one === '' ? `reeve ${name}` : `reeve ${name} ${one}`)
  const takers = Object.keys(takes)
    .filter((other) => other !== '' && takes[other]?.includes(stray))
    .map(called)
  throw new UsageError(
    `--${stray} has no effect with ${called(action)}.`,
    `Leave it out: it is an option of ${takers.join(', ')}.`,
  )
}

interface Given {
  readonly options: object
  readonly args: readonly string[]
}

const OTHERWISE = 'otherwise'

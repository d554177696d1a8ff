import type { InputOf } from '../verbs/reeve.ts'
import { UsageError } from './usage-error.ts'

export const ALLOW = {
  type: 'texts',
  value: 'name=amount',
  about: 'an allowance, like cost=5 or outputBytes=1000000; repeatable',
} as const

type Allowance = NonNullable<InputOf<'openSession'>['allowance']>

/** Parses `--allow`. The daemon checks the names. */
export function allowanceIn(given: readonly string[]): { readonly allowance?: Allowance } {
  if (given.length === 0) return {}
  const amounts = given.map((text) => {
    const found = /^(?<name>\w+)=(?<amount>\d+(?:\.\d+)?)$/.exec(text)?.groups
    if (found === undefined)
      throw new UsageError(`--allow was given ${text}.`, 'It takes a name and an amount, like cost=5')
    return [found['name'], Number(found['amount'])] as const
  })
  return { allowance: Object.fromEntries(amounts) as Allowance }
}

import type { InputOf } from '../verbs/reeve.ts'
import { UsageError } from './usage-error.ts'

export const ALLOW = {
  type: 'texts',
  value: 'name=amount',
  about: 'an allowance, like cost=5 or outputBytes=1000000; repeatable',
} as const

type Allowance = NonNullable<InputOf<'openSession'>['allowance']>

/** Parses `--allow`. */
export function allowanceIn(given: readonly string[]): { readonly allowance?: Allowance } {
  return given.length === 0 ? {} : { allowance: amountsIn('--allow', given) }
}

/** Parses amounts with their names. The daemon checks the names. */
export function amountsIn(where: string, given: readonly string[]): Allowance {
  const amounts = given.map((text) => {
    const found = /^(?<name>\w+)=(?<amount>\d+(?:\.\d+)?)$/.exec(text)?.groups
    if (found === undefined)
      throw new UsageError(`${where} was given ${text}.`, 'It takes a name and an amount, like cost=5')
    return [found['name'], Number(found['amount'])] as const
  })
  return Object.fromEntries(amounts) as Allowance
}

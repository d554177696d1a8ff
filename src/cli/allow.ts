import type { InputOf } from '../verbs/reeve.ts'
import { UsageError } from './usage-error.ts'

export const ALLOW = {
  type: 'texts',
  value: 'name=amount',
  about: 'what it may use, like cost=5 or outputBytes=1000000; may be given more than once',
} as const

type Allowance = NonNullable<InputOf<'openSession'>['allowance']>

/** Which names there are the daemon says. */
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

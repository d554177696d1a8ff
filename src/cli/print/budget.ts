import type { OutputOf } from '../../verbs/reeve.ts'
import { byteCount } from './times.ts'

type Budget = OutputOf<'budget'>
type Amounts = Budget['given']
type Counted = keyof Amounts

const WORDS: { readonly [name in Counted]-?: string } = {
  toolCalls: 'tool calls',
  modelCalls: 'model calls',
  tokensIn: 'tokens in',
  tokensOut: 'tokens out',
  cost: 'cost',
  cpuSeconds: 'CPU seconds',
  outputBytes: 'of output',
  children: 'children',
}
const NAMES = Object.keys(WORDS) as Counted[]

/** `3 of 10 tool calls, 0.2 cost`: the total use, with the limits. */
export function usedText({ given, total }: Budget): string {
  return NAMES.filter((name) => given[name] !== undefined || (total[name] ?? 0) > 0)
    .map((name) => {
      const most = given[name]
      const limit = most === undefined ? '' : ` of ${amountText(name, most)}`
      return `${amountText(name, total[name] ?? 0)}${limit} ${WORDS[name]}`
    })
    .join(', ')
}

/** `tools 3/10, cost 0.2/5 +2`: the two amounts nearest to their limits, for a table. */
export function briefUse({ given, total }: Budget): string {
  const share = (name: Counted) => (total[name] ?? 0) / (given[name] || Number.POSITIVE_INFINITY)
  const counted = NAMES.filter((name) => given[name] !== undefined || (total[name] ?? 0) > 0).sort(
    (a, b) => share(b) - share(a) || Number(given[b] !== undefined) - Number(given[a] !== undefined),
  )
  const shown = counted.slice(0, MAX_BRIEF).map((name) => {
    const most = given[name] === undefined ? '' : `/${briefAmount(name, given[name])}`
    return `${BRIEF[name]} ${briefAmount(name, total[name] ?? 0)}${most}`
  })
  const more = counted.length - shown.length
  return `${shown.join(', ')}${more > 0 ? ` +${more}` : ''}`
}

const MAX_BRIEF = 2
const BRIEF: { readonly [name in Counted]-?: string } = {
  toolCalls: 'tools',
  modelCalls: 'models',
  tokensIn: 'in',
  tokensOut: 'out',
  cost: 'cost',
  cpuSeconds: 'CPU',
  outputBytes: 'output',
  children: 'children',
}

function briefAmount(name: Counted, amount: number): string {
  if (name === 'outputBytes') return byteCount(amount).replace(/(\.0)? /, '')
  const short = amount.toLocaleString('en', { notation: 'compact', maximumSignificantDigits: 3 })
  return name === 'cpuSeconds' ? `${short}s` : short
}

export function amountsText(amounts: Amounts): string | undefined {
  const named = NAMES.filter((name) => amounts[name] !== undefined)
  return named.map((name) => `${amountText(name, amounts[name] ?? 0)} ${WORDS[name]}`).join(', ') || undefined
}

function amountText(name: Counted, amount: number): string {
  return name === 'outputBytes' ? byteCount(amount) : amount.toLocaleString('en')
}

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

/** `3 of 10 tool calls, 0.2 cost`: what was used in all, and of how much. */
export function usedText({ given, total }: Budget): string {
  return NAMES.filter((name) => given[name] !== undefined || (total[name] ?? 0) > 0)
    .map((name) => {
      const most = given[name]
      const limit = most === undefined ? '' : ` of ${amountText(name, most)}`
      return `${amountText(name, total[name] ?? 0)}${limit} ${WORDS[name]}`
    })
    .join(', ')
}

export function amountsText(amounts: Amounts): string | undefined {
  const named = NAMES.filter((name) => amounts[name] !== undefined)
  return named.map((name) => `${amountText(name, amounts[name] ?? 0)} ${WORDS[name]}`).join(', ') || undefined
}

function amountText(name: Counted, amount: number): string {
  return name === 'outputBytes' ? byteCount(amount) : amount.toLocaleString('en')
}

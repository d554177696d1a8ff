import type { StallPair } from './state.ts'

const EQUAL_PAIRS = 4
const EQUAL_ERRORS = 3
const ALTERNATIONS = 6

export type Stall = 'equal_results' | 'equal_errors' | 'alternation'

/** Whether the last tool calls repeat themselves. A stall is an alert, never an end. */
export function stallOf(window: readonly StallPair[]): Stall | null {
  const errors = window.slice(-EQUAL_ERRORS)
  if (errors.length === EQUAL_ERRORS && errors.every(({ isError }) => isError) && areEqual(errors))
    return 'equal_errors'
  const pairs = window.slice(-EQUAL_PAIRS)
  if (pairs.length === EQUAL_PAIRS && areEqual(pairs)) return 'equal_results'
  const turns = window.slice(-ALTERNATIONS)
  if (turns.length < ALTERNATIONS) return null
  const even = turns.filter((_, index) => index % 2 === 0)
  const odd = turns.filter((_, index) => index % 2 === 1)
  return areEqual(even) && areEqual(odd) ? 'alternation' : null
}

/** The sentence of the alert. */
export function stallMessage(stall: Stall): string {
  switch (stall) {
    case 'equal_results':
      return `The last ${EQUAL_PAIRS} tool calls were equal, with equal results.`
    case 'equal_errors':
      return `The last ${EQUAL_ERRORS} tool calls were equal, and failed with the same error.`
    case 'alternation':
      return `The last ${ALTERNATIONS} tool calls alternate between the same two.`
  }
}

function areEqual(pairs: readonly StallPair[]): boolean {
  const [first] = pairs
  return pairs.every(({ call, result }) => call === first?.call && result === first.result)
}

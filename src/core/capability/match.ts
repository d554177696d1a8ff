/**
 * Whether a rule is about a need. `unknown`: it may be, but the facts do not tell, for example because an argument is a
 * variable. An allow counts only with `yes`; an ask or a deny also counts with `unknown`.
 */
export type Match = 'yes' | 'no' | 'unknown'

/** The match of several conditions that must all hold. */
export function allOf(matches: Iterable<Match>): Match {
  let all: Match = 'yes'
  for (const match of matches) {
    if (match === 'no') return 'no'
    if (match === 'unknown') all = 'unknown'
  }
  return all
}

export function matchIf(condition: boolean): Match {
  return condition ? 'yes' : 'no'
}

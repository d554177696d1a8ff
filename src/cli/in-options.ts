import { ReeveError } from '../core/errors.ts'
import type { OptionSpecs } from './options.ts'
import { shortTime } from './print/times.ts'

/** The options of a call, so that a refusal can name the wrong one. */
export interface Called {
  /** The option that fills each field of the verb, without the numbers of lists. A field covers the fields below it, too. */
  readonly fields: Readonly<Record<string, string>>
  readonly specs: OptionSpecs
  /** Options as they were typed. */
  readonly texts: ReadonlyMap<string, readonly string[]>
}

interface Issue {
  readonly path: readonly (string | number)[]
  readonly code: string
  readonly message: string
  readonly minimum?: number
  readonly maximum?: number
}

/** Rewrites a refusal of verb fields in terms of the options that filled them. Any other error stays as it is. */
export function inOptions(error: ReeveError, called: Called): ReeveError {
  const issues = (error.details['issues'] ?? []) as readonly Issue[]
  if (error.code !== 'invalid_input' || issues.length === 0) return error
  const said = issues.map((issue) => wrongIn(issue, called))
  // An issue without an option would be lost: the original error is better then.
  const wrong = said.flatMap((one) => (one === null ? [] : [one]))
  if (wrong.length < said.length) return error
  const options = new Set(wrong.map(({ option }) => option))
  const given = [...options].map((option) => `--${option} was given ${called.texts.get(option)?.join(', ')}.`)
  const takes = wrong.map(
    ({ option, takes: what }) => `${options.size === 1 ? 'It' : `--${option}`} ${what}.`,
  )
  return new ReeveError(error.code, given.join(' '), [...new Set(takes)].join(' '), {
    details: error.details,
    cause: error,
  })
}

function wrongIn(issue: Issue, { fields, specs, texts }: Called): { option: string; takes: string } | null {
  // The number of a member of a list says nothing: the option is given once for each.
  const path = issue.path.filter((name) => typeof name === 'string')
  const known = path
    .map((_, at) => path.slice(0, path.length - at).join('.'))
    .find((field) => field in fields)
  const option = known === undefined ? undefined : fields[known]
  if (option === undefined || !texts.has(option)) return null
  return { option, takes: takesText(issue, specs[option]?.type) }
}

/** The part of the remedy behind the name of the option. */
function takesText({ code, message, minimum, maximum }: Issue, type: string | undefined): string {
  const amount = (value: number) => (type === 'duration' ? shortTime(value) : String(value))
  const isLength = message.includes('character')
  if (code === 'too_small' && minimum !== undefined && isLength)
    return `takes ${charactersText(minimum)} or more`
  if (code === 'too_big' && maximum !== undefined && isLength)
    return `takes ${charactersText(maximum)} at most`
  if (code === 'too_small' && minimum !== undefined && type !== 'texts')
    return `takes ${amount(minimum)} or more`
  if (code === 'too_big' && maximum !== undefined && type !== 'texts')
    return `takes ${amount(maximum)} at most`
  if (message.startsWith('must be ')) return `takes ${message.slice('must be '.length)}`
  if (message.startsWith('must ')) return message
  return `cannot be this: ${message}`
}

function charactersText(count: number): string {
  return count === 1 ? 'a character' : `${count} characters`
}

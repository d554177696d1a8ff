/** The part of Standard Schema that Reeve uses. Schemas of zod, Valibot, ArkType and others have it. */
export interface StandardSchema<Input = unknown, Output = Input> {
  readonly '~standard': {
    readonly version: 1
    /** The library that the schema comes from. */
    readonly vendor: string
    readonly validate: (value: unknown) => Validated<Output> | Promise<Validated<Output>>
    readonly types?: { readonly input: Input; readonly output: Output } | undefined
  }
}

type Validated<Output> =
  | { readonly value: Output; readonly issues?: undefined }
  | { readonly issues: readonly Issue[] }

interface Issue {
  readonly message: string
  readonly path?: readonly (PropertyKey | { readonly key: PropertyKey })[] | undefined
}

/** The type that a schema accepts. */
export type Accepted<Schema extends StandardSchema> = NonNullable<Schema['~standard']['types']>['input']

/** The type that a schema returns. */
export type Parsed<Schema extends StandardSchema> = NonNullable<Schema['~standard']['types']>['output']

/** Why a value does not fit, in one line: the first issues, each with its path. */
export function issuesText(issues: readonly Issue[]): string {
  const shown = issues.slice(0, MAX_SHOWN_ISSUES).map(({ message, path = [] }) => {
    const keys = path.map((part) => String(typeof part === 'object' ? part.key : part))
    return keys.length === 0 ? message : `${keys.join('.')}: ${message}`
  })
  const more = issues.length - shown.length
  return more > 0 ? `${shown.join('; ')}; and ${more} more` : shown.join('; ')
}

/** Enough for a model to correct its call. */
const MAX_SHOWN_ISSUES = 5

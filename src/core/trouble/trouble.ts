/** A current problem that a person can act on. It is listed until it is over. */
export interface Trouble {
  readonly code: TroubleCode
  readonly since: number
  /** The problem, in one or two sentences. */
  readonly message: string
  /** The next step for an operator. */
  readonly remedy: string
}

export const TROUBLE_CODES = [
  'store_unwritable',
  'secrets_unusable',
  'policy_invalid',
  'output_held_back',
  'log_unwritten',
] as const
type TroubleCode = (typeof TROUBLE_CODES)[number]

/** The state of the parts that can be in trouble. */
export interface TroubleFacts {
  /** The last failed write, if none has succeeded since. */
  readonly store: { readonly since: number; readonly message: string; readonly remedy: string } | null
  /** Why the source of secrets cannot be read now. */
  readonly secrets: { readonly since: number; readonly message: string; readonly remedy: string } | null
  /** Policy files that cannot be used. */
  readonly policies: readonly {
    readonly path: string
    readonly since: number
    readonly problems: readonly {
      readonly line: number
      readonly message: string
      readonly remedy: string
    }[]
  }[]
  /** Commands that have ended and whose ends are not in the store. */
  readonly unrecordedEnds: number
  /** Commands that wait because the disk does not accept their output. */
  readonly held: readonly { readonly since: number; readonly bytes: number }[]
  /** The daemon's own log. */
  readonly log: {
    readonly since: number
    readonly message: string
    readonly waiting: number
    readonly lost: number
  } | null
}

/** The current problems, the worst first. */
export function troublesOf({ store, secrets, policies, unrecordedEnds, held, log }: TroubleFacts): Trouble[] {
  const troubles: Trouble[] = []
  if (store !== null) troubles.push(unwritable(store, unrecordedEnds))
  if (secrets !== null)
    troubles.push({
      code: 'secrets_unusable',
      since: secrets.since,
      message: `${secrets.message} Processes that name a secret fail to start, and values of the file are not masked by value.`,
      remedy: secrets.remedy,
    })
  for (const { path, since, problems } of policies)
    for (const { line, message, remedy } of problems.slice(0, 1))
      troubles.push({
        code: 'policy_invalid',
        since,
        message: `${path}, line ${line}: ${message} Its last good version counts; without one, agents start nothing in its folder.`,
        remedy,
      })
  if (held.length > 0)
    troubles.push({
      code: 'output_held_back',
      since: Math.min(...held.map(({ since }) => since)),
      message: `The output of ${counted(held.length, 'command')} is held back, because the disk does not take it: ${held.length === 1 ? 'it waits' : 'they wait'}, and nothing is lost.`,
      remedy: 'Free some disk space: they go on by themselves.',
    })
  if (log !== null)
    troubles.push({
      code: 'log_unwritten',
      since: log.since,
      message: `The log of the daemon cannot be written (${log.message}): ${counted(log.waiting, 'line')} in memory${log.lost === 0 ? '' : `, ${log.lost} lost`}.`,
      remedy: 'Free some disk space, or look whether the log file can be written.',
    })
  return troubles
}

function unwritable(store: NonNullable<TroubleFacts['store']>, ends: number): Trouble {
  const unrecorded =
    ends === 0 ? '' : ` ${counted(ends, 'command')} ended, which is recorded when the store can be written.`
  return {
    code: 'store_unwritable',
    since: store.since,
    message: `Nothing new can be recorded: ${store.message} Reading and killing still work.${unrecorded}`,
    remedy: store.remedy,
  }
}

function counted(count: number, noun: string): string {
  return `${count} ${noun}${count === 1 ? '' : 's'}`
}

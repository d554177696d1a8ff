import type { AlertKind } from './event.ts'
import type { AgentState } from './state.ts'

interface Use {
  readonly before: AgentState['totals']
  readonly after: AgentState['totals']
  /** Those that have paused the agent before. */
  readonly reached: AgentState['reached']
}

type Limits = { readonly [Name in LimitName]?: number }
type LimitName = keyof typeof COUNTED

interface SoftLimitAlert {
  readonly alert: Extract<AlertKind, 'soft_limit' | 'near_limit'>
  readonly message: string
  /** Of a limit that is reached. */
  readonly limit?: LimitName
}

const COUNTED = { tokensIn: 'inputTokens', tokensOut: 'outputTokens', cost: 'cost' } as const
const LIMITS = ['tokensIn', 'tokensOut', 'cost'] as const satisfies readonly LimitName[]

/** The share of a soft limit at which people are warned. */
const NEAR_SHARE = 0.8

/** The alert after a use of a model: a soft limit is reached, or one is near; null if neither is new. */
export function softLimitAlert(limits: Limits, { before, after, reached }: Use): SoftLimitAlert | null {
  const given = LIMITS.flatMap((name) => {
    const limit = limits[name]
    return limit === undefined ? [] : [{ name, limit, was: before[COUNTED[name]], now: after[COUNTED[name]] }]
  })
  const full = given.find(({ name, limit, now }) => now >= limit && !reached.includes(name))
  if (full !== undefined)
    return {
      alert: 'soft_limit',
      message: `The soft limit of ${full.name}, ${full.limit}, is reached: the agent is paused until a person says that it may go on.`,
      limit: full.name,
    }
  const near = given.filter(
    ({ limit, was, now }) => was < limit * NEAR_SHARE && now >= limit * NEAR_SHARE && now < limit,
  )
  if (near.length === 0) return null
  const used = near.map(({ name, limit, now }) => `${now} of ${limit} (${name})`).join(' and ')
  return {
    alert: 'near_limit',
    message: `${used} are used of the soft limit: the agent pauses when it is reached.`,
  }
}

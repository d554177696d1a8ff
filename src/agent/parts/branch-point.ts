import { callKey, turnEndedKey } from '../../core/agent/act.ts'
import { lastOnBranch } from '../../core/agent/branch.ts'
import type { SessionContinued } from '../../core/agent/earlier-logs.ts'
import {
  type BranchPoint,
  branchOf,
  type ForkMode,
  refuseBranchAt,
  refuseEmpty,
  unfinishedCall,
} from '../../core/agent/fork.ts'
import { loggedEvent, stepBack, walkFrom } from '../../core/agent/log-view.ts'
import type { AgentState } from '../../core/agent/state.ts'
import { knownEvent } from '../../core/process/event.ts'
import type { ProcessRecord } from '../../core/process/record.ts'
import { isRefusal, type Refusal } from '../../core/refusal.ts'
import { SessionLog } from '../../kernel/session-log.ts'
import type { Store } from '../../store/contract.ts'

type Source = ProcessRecord & { readonly agent: AgentState }

/**
 * What the log of a fork of this agent begins with. The log of the agent is referred to, not copied: a few events are read, or those
 * back to the segment of the turn if the session was summarised since.
 */
export async function branchFrom(
  store: Store,
  source: Source,
  { at, mode }: { readonly at: number | undefined; readonly mode: ForkMode },
): Promise<SessionContinued | Refusal> {
  const log = new SessionLog(store, source.pid, source.agent.earlier)
  const point = at === undefined ? await presentPoint(log, source) : await pointBehind(log, source, at)
  if (isRefusal(point)) return point
  const { segment } = source.agent
  const isInSegment = segment.from !== 0 && segment.from <= point.place
  const branch = branchOf(source, point, isInSegment ? segment : await segmentAt(log, point), mode)
  return branch ?? refuseEmpty(source)
}

async function pointBehind(log: SessionLog, source: Source, at: number): Promise<BranchPoint | Refusal> {
  const event = await log.with(turnEndedKey(at))
  const known = event === null ? null : knownEvent(event)
  const reason = known?.type === 'turn_ended' ? known.payload.reason : null
  const refused = refuseBranchAt(source, at, reason)
  if (refused !== undefined || event === null) return refused ?? refuseEmpty(source)
  return { place: event.seq, turn: at }
}

/** The head, or in the middle of an answer the beginning of its model call. */
async function presentPoint(log: SessionLog, { agent }: Source): Promise<BranchPoint> {
  const { turn, head } = agent
  const open = unfinishedCall(turn)
  const begun = open === null ? null : await log.with(callKey(open))
  return { place: begun === null ? head : begun.seq - 1, turn: lastOnBranch(agent) }
}

/** The segment that the session has at a place. Without one the fork writes a system prompt of its own. */
async function segmentAt(log: SessionLog, { place }: BranchPoint): Promise<SessionContinued['segment']> {
  let walk = walkFrom(place)
  for (let before = place + 1; ; ) {
    const events = await log.before(before)
    const first = events[0]
    if (first === undefined) return { number: 1, from: 0 }
    for (const event of events.toReversed()) {
      const logged = loggedEvent(event)
      if (logged === null) continue
      const step = stepBack(walk, logged)
      walk = step.walk
      const begun = step.items.find((item) => item.type === 'segment_begun')
      if (begun?.type === 'segment_begun') return { number: begun.payload.segment, from: begun.seq }
    }
    before = first.seq
  }
}

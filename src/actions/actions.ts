import type { VerbName } from '../verbs/reeve.ts'
import type { ActionParts, ActionsFor } from './action.ts'
import { agentFileActions } from './agent-files.ts'
import { agentLogActions } from './agent-log.ts'
import { agentReadActions } from './agent-reads.ts'
import { agentActions } from './agents.ts'
import { allowanceActions } from './allowances.ts'
import { approvalActions } from './approvals.ts'
import { auditActions } from './audit.ts'
import { completionActions } from './complete-input.ts'
import { environmentActions } from './environments.ts'
import { eventActions } from './events.ts'
import { explainActions } from './explain-rules.ts'
import { forkAgentActions } from './fork-agent.ts'
import { grantActions } from './grants.ts'
import { holderActions } from './holders.ts'
import { imageActions } from './images.ts'
import { inboxActions } from './inbox.ts'
import { inputActions } from './input.ts'
import { killActions } from './kill.ts'
import { messageActions } from './messages.ts'
import { objectActions } from './objects.ts'
import { outputActions } from './output.ts'
import { policyActions } from './policies.ts'
import { policyFileActions } from './policy-files.ts'
import { processActions } from './processes.ts'
import { questionActions } from './questions.ts'
import { restartActions } from './restart.ts'
import { restoreAgentActions } from './restore-agent.ts'
import { rewindActions } from './rewind-agent.ts'
import { scheduleActions } from './schedules.ts'
import { sessionActions } from './sessions.ts'
import { signalActions } from './signal.ts'
import { spawnActions } from './spawn.ts'
import { spawnAgentActions } from './spawn-agent.ts'
import { trackActions } from './track.ts'
import { triggerActions } from './triggers.ts'
import { upkeepActions } from './upkeep.ts'
import { waitActions } from './wait.ts'
import { waitAgentActions } from './wait-agent.ts'
import { waitSeveralActions } from './wait-several.ts'
import { workerActions } from './workers.ts'
import { worktreeActions } from './worktrees.ts'
import { writtenToolActions } from './written-tools.ts'

/** The action of every verb, on behalf of one actor. */
export function actionsOf(parts: ActionParts): ActionsFor<VerbName> {
  return {
    ...spawnActions(parts),
    ...spawnAgentActions(parts),
    ...worktreeActions(parts),
    ...restoreAgentActions(parts),
    ...forkAgentActions(parts),
    ...rewindActions(parts),
    ...trackActions(parts),
    ...processActions(parts),
    ...eventActions(parts),
    ...agentLogActions(parts),
    ...messageActions(parts),
    ...waitActions(parts),
    ...waitSeveralActions(parts),
    ...signalActions(parts),
    ...killActions(parts),
    ...restartActions(parts),
    ...objectActions(parts),
    ...outputActions(parts),
    ...inputActions(parts),
    ...sessionActions(parts),
    ...scheduleActions(parts),
    ...triggerActions(parts),
    ...grantActions(parts),
    ...inboxActions(parts),
    ...allowanceActions(parts),
    ...environmentActions(parts),
    ...workerActions(parts),
    ...holderActions(parts),
    ...approvalActions(parts),
    ...questionActions(parts),
    ...policyActions(parts),
    ...policyFileActions(parts),
    ...explainActions(parts),
    ...auditActions(parts),
    ...upkeepActions(parts),
    ...agentActions(parts),
    ...agentReadActions(parts),
    ...writtenToolActions(parts),
    ...waitAgentActions(parts),
    ...completionActions(parts),
    ...imageActions(parts),
    ...agentFileActions(parts),
  }
}

import { agentBlobs } from './conformance/agent-blobs.ts'
import { agents } from './conformance/agents.ts'
import { allowanceSums } from './conformance/allowance-sums.ts'
import { allowances } from './conformance/allowances.ts'
import { answers } from './conformance/answers.ts'
import { approvals } from './conformance/approvals.ts'
import { approvers } from './conformance/approvers.ts'
import { audit } from './conformance/audit.ts'
import { behavesOn, type Suite } from './conformance/bench.ts'
import { blobRaces } from './conformance/blob-races.ts'
import { blobs } from './conformance/blobs.ts'
import { ceilings } from './conformance/ceilings.ts'
import { charges } from './conformance/charges.ts'
import { coveredRequests } from './conformance/covered-requests.ts'
import { delegations } from './conformance/delegations.ts'
import { denials } from './conformance/denials.ts'
import { earlierSegments } from './conformance/earlier-segments.ts'
import { ends } from './conformance/ends.ts'
import { environments } from './conformance/environments.ts'
import { family } from './conformance/family.ts'
import { feed } from './conformance/feed.ts'
import { filters } from './conformance/filters.ts'
import { gate } from './conformance/gate.ts'
import { grants } from './conformance/grants.ts'
import { inbox } from './conformance/inbox.ts'
import { inboxReaders } from './conformance/inbox-readers.ts'
import { inboxSources } from './conformance/inbox-sources.ts'
import { keeping } from './conformance/keeping.ts'
import { lapses } from './conformance/lapses.ts'
import { leases } from './conformance/leases.ts'
import { liens } from './conformance/liens.ts'
import { lifetimes } from './conformance/lifetimes.ts'
import { messages } from './conformance/messages.ts'
import { objects } from './conformance/objects.ts'
import { order } from './conformance/order.ts'
import { outbox } from './conformance/outbox.ts'
import { placement } from './conformance/placement.ts'
import { plans } from './conformance/plans.ts'
import { policyFiles } from './conformance/policy-files.ts'
import { pruning } from './conformance/prune.ts'
import { pruneExemptions } from './conformance/prune-exemptions.ts'
import { questions } from './conformance/questions.ts'
import { races } from './conformance/races.ts'
import { recovery } from './conformance/recovery.ts'
import { registration } from './conformance/registration.ts'
import { removedHolders } from './conformance/removed-holders.ts'
import { removedRules } from './conformance/removed-rules.ts'
import { replayKeys } from './conformance/replay-keys.ts'
import { reports } from './conformance/reports.ts'
import { reviews } from './conformance/reviews.ts'
import { ruleSets } from './conformance/rule-sets.ts'
import { ruledAnswers } from './conformance/ruled-answers.ts'
import { schedules } from './conformance/schedules.ts'
import { scriptSnapshots } from './conformance/script-snapshots.ts'
import { sessionPresets } from './conformance/session-presets.ts'
import { sessionTreeRules } from './conformance/session-tree-rules.ts'
import { sessionTrees } from './conformance/session-trees.ts'
import { settledRequests } from './conformance/settled-requests.ts'
import { signals } from './conformance/signals.ts'
import { stopGraces } from './conformance/stop-graces.ts'
import { tree } from './conformance/tree.ts'
import { triggers } from './conformance/triggers.ts'
import { visibility } from './conformance/visibility.ts'
import { workflows } from './conformance/workflows.ts'

export type { StoreUnderTest, Suite } from './conformance/bench.ts'

/** Declares one test for every promise of the store contract. */
export function storeConformance(suite: Suite): void {
  const behaves = behavesOn(suite)
  plans(behaves)
  registration(behaves)
  family(behaves)
  races(behaves)
  order(behaves)
  replayKeys(behaves)
  ends(behaves)
  leases(behaves)
  placement(behaves)
  recovery(behaves)
  lapses(behaves)
  removedHolders(behaves)
  keeping(behaves)
  signals(behaves)
  messages(behaves)
  answers(behaves)
  workflows(behaves)
  scriptSnapshots(behaves)
  agents(behaves)
  reports(behaves)
  stopGraces(behaves)
  tree(behaves)
  lifetimes(behaves)
  outbox(behaves)
  inbox(behaves)
  inboxReaders(behaves)
  inboxSources(behaves)
  visibility(behaves)
  sessionTrees(behaves)
  sessionTreeRules(behaves)
  reviews(behaves)
  allowances(behaves)
  charges(behaves)
  allowanceSums(behaves)
  filters(behaves)
  pruning(behaves)
  pruneExemptions(behaves)
  earlierSegments(behaves)
  environments(behaves)
  blobs(behaves)
  blobRaces(behaves)
  agentBlobs(behaves)
  ruleSets(behaves)
  removedRules(behaves)
  sessionPresets(behaves)
  schedules(behaves)
  liens(behaves)
  objects(behaves)
  triggers(behaves)
  approvals(behaves)
  approvers(behaves)
  gate(behaves)
  grants(behaves)
  settledRequests(behaves)
  coveredRequests(behaves)
  ruledAnswers(behaves)
  ceilings(behaves)
  policyFiles(behaves)
  delegations(behaves)
  denials(behaves)
  questions(behaves)
  audit(behaves)
  feed(behaves)
}

import type { ListSessionsResponse, SessionInfo } from '@agentclientprotocol/sdk'
import type { OutputOf, ReeveVerbs } from '../verbs/reeve.ts'
import { textOf } from './tool-calls.ts'

type ListedAgent = OutputOf<'agents'>['agents'][number]

/** Agents of one page: the title of each is read from its log. */
const PAGE = 50
/** Items in which the first input is looked for. */
const FIRST_ITEMS = 5
const MAX_TITLE_CHARS = 80

/** The agents that an editor can open, by the folder they work in: roots that were asked for something. Agents of other agents are left out. */
export async function listSessions(
  reeve: ReeveVerbs,
  { cwd, cursor }: { readonly cwd?: string | null; readonly cursor?: string | null },
): Promise<ListSessionsResponse> {
  const place = cursor === undefined || cursor === null ? {} : { after: cursor }
  const { agents, next } = await reeve.agents({ limit: PAGE, ...place })
  const found = agents.filter(
    ({ parent, workspace, turns }) =>
      parent === null &&
      turns > 0 &&
      workspace !== null &&
      (cwd === undefined || cwd === null || workspace === cwd),
  )
  const sessions = await Promise.all(found.map((agent) => sessionInfo(reeve, agent)))
  return { sessions, ...(next === null ? {} : { nextCursor: next }) }
}

async function sessionInfo(reeve: ReeveVerbs, agent: ListedAgent): Promise<SessionInfo> {
  const { pid, workspace, lastActivityAt, label } = agent
  const { items } = await reeve.agentLog({ pid, after: 0, last: FIRST_ITEMS })
  const first = items.find((item) => item.type === 'input_promoted')
  const title = first === undefined ? label : titleIn(textOf(first.payload.parts)) || label
  return { sessionId: pid, cwd: workspace ?? '', title, updatedAt: new Date(lastActivityAt).toISOString() }
}

/** The first line of a prompt is the title of its session. */
function titleIn(text: string): string {
  const [first = ''] = text.trim().split('\n')
  return first.length > MAX_TITLE_CHARS ? `${first.slice(0, MAX_TITLE_CHARS - 1)}…` : first
}

import * as z from 'zod'
import { BoundedMap } from '../../../base/bounded-map.ts'
import type { Need } from '../../../core/capability/need.ts'
import type { Refusal } from '../../../core/refusal.ts'
import { type AgentTool, agentTool, ToolError } from '../agent-tool.ts'
import { hostOf, type NetParts, netNeed, portOf } from './checked-address.ts'
import { getPage } from './get-page.ts'
import { type Page, pageOf, shownPage } from './page.ts'

export interface WebParts extends NetParts {
  /** The gate's answer to a redirect to another host: the need of the call itself was ruled on before it began. */
  readonly refuse: (need: Need) => Promise<Refusal | undefined>
}

const MAX_REDIRECTS = 5
const MAX_FETCH_MS = 30_000
/** Pages that are kept in memory, so that the agent pages through them without another request. */
const MAX_KEPT_PAGES = 4

const input = z.strictObject({
  url: z.string().min(1).max(8_000).describe('an http or https URL'),
  offset: z.number().int().min(1).optional().describe('the first line of the text to show, from 1'),
})

/** Fetches pages for one agent. */
export function webFetchTool(parts: WebParts): AgentTool {
  const kept = new BoundedMap<string, Page>(MAX_KEPT_PAGES)
  return agentTool({
    name: 'web_fetch',
    description:
      'Gets a web page, and returns its text with links, or a picture. GET only; internal addresses are refused. A long text comes in pages: go on with offset.',
    input,
    recovery: 'rerunnable',
    isBounded: true,
    needs: ({ url }) => {
      const parsed = parseUrl(url)
      return [netNeed(hostOf(parsed), portOf(parsed))]
    },
    async run({ url: given, offset = 1 }, { abortSignal }) {
      const url = parseUrl(given)
      const before = offset > 1 ? kept.get(url.href) : undefined
      const page = before ?? (await fetchPage(url, parts, abortSignal))
      kept.set(url.href, page)
      return shownPage(page, offset)
    },
  })
}

async function fetchPage(start: URL, parts: WebParts, abortSignal: AbortSignal): Promise<Page> {
  const timeout = AbortSignal.timeout(MAX_FETCH_MS)
  const signal = AbortSignal.any([abortSignal, timeout])
  let url = start
  try {
    for (let redirects = 0; redirects <= MAX_REDIRECTS; redirects++) {
      const answer = await getPage(url, parts, signal)
      if (answer.type === 'page') return pageOf(url, answer)
      const next = parseUrl(answer.to.href)
      await refuseOtherHost(url, next, parts)
      url = next
    }
  } catch (error) {
    abortSignal.throwIfAborted()
    if (!timeout.aborted) throw error
    throw new ToolError('fetch_failed', `${url.href} has not answered within ${MAX_FETCH_MS / 1_000} s.`)
  }
  throw new ToolError('fetch_failed', `${start.href} redirects more than ${MAX_REDIRECTS} times.`)
}

async function refuseOtherHost(from: URL, to: URL, { refuse }: WebParts): Promise<void> {
  if (from.host === to.host) return
  const refusal = await refuse(netNeed(hostOf(to), portOf(to)))
  if (refusal === undefined) return
  throw new ToolError(
    'address_refused',
    `${from.href} redirects to ${to.href}, which is refused: ${refusal.message}`,
  )
}

function parseUrl(given: string): URL {
  if (!URL.canParse(given)) throw new ToolError('invalid_input', `${given} is no URL.`)
  const url = new URL(given)
  if (url.protocol !== 'http:' && url.protocol !== 'https:')
    throw new ToolError('invalid_input', `${url.protocol} is not fetched; give an http or https URL.`)
  if (url.username !== '' || url.password !== '')
    throw new ToolError(
      'invalid_input',
      'A URL with a user name or a password is not fetched: its host is easily mistaken.',
    )
  url.hash = ''
  return url
}

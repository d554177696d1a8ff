import type { Commands } from '../command/commands.ts'
import { RefusedError } from '../core/errors.ts'
import { sentenceOf, TAIL_CHARS } from '../core/inbox/sentence.ts'
import type { Scope } from '../core/process/record.ts'
import { acknowledge } from '../kernel/acknowledge.ts'
import { refuseAct } from '../kernel/audit.ts'
import { refuseInbox } from '../kernel/inbox-access.ts'
import type { Kernel } from '../kernel/kernel.ts'
import { readNotices } from '../kernel/read-notices.ts'
import { takeNotices } from '../kernel/take-notices.ts'
import { waitForNotices } from '../kernel/wait-for-notices.ts'
import type { StoredNotice } from '../store/contract.ts'
import type { InboxNotice } from '../verbs/follow-calls.ts'
import type { CallOptions, VerbName } from '../verbs/reeve.ts'
import { type ActionParts, type ActionsFor, throwIfRefused } from './action.ts'

/** How many output logs are read at once. */
const LOGS_AT_ONCE = 16

export function inboxActions({
  kernel,
  actor,
  commands,
  effects,
}: ActionParts): ActionsFor<'notices' | 'takeNotices' | 'acknowledge'> {
  const { edges, feed } = kernel
  const permitLook = (scope: string) => {
    throwIfRefused(refuseInbox(edges, actor, scope, 'read'))
    return scope as Scope
  }
  const permit = async (scope: string, action: VerbName) => {
    await refuseAct(edges, refuseInbox(edges, actor, scope, 'write'), { actor, action, target: scope })
    return scope as Scope
  }
  const describe = async (notices: readonly StoredNotice[]) => {
    const inOrder: InboxNotice[] = []
    for (let at = 0; at < notices.length; at += LOGS_AT_ONCE) {
      const some = notices.slice(at, at + LOGS_AT_ONCE)
      inOrder.push(...(await Promise.all(some.map((notice) => withText(kernel, commands, notice)))))
    }
    return inOrder
  }
  return {
    async notices({ scope: asked, waitMs, ...reading }, options) {
      const scope = permitLook(asked)
      const read = () => readNotices(edges, { scope, releases: effects.areKept, ...reading })
      const { notices, next, more } = await waitForNotices(edges, feed, read, waitOptions(waitMs, options))
      return { notices: await describe(notices), next, more }
    },
    async takeNotices({ scope: asked, waitMs, ...taking }, options) {
      const scope = await permit(asked, 'takeNotices')
      const take = () => takeNotices(edges, { scope, ...taking })
      const { notices, until } = await waitForNotices(edges, feed, take, waitOptions(waitMs, options))
      return { notices: await describe(notices), until }
    },
    async acknowledge({ scope: asked, ...acknowledging }) {
      const scope = await permit(asked, 'acknowledge')
      const { acknowledged, lost, through } = await acknowledge(edges, { scope, ...acknowledging })
      return { acknowledged: [...acknowledged], lost: [...lost], through }
    },
  }
}

function waitOptions(waitMs: number, { signal }: CallOptions) {
  return { waitMs, ...(signal === undefined ? {} : { signal }) }
}

/** Notices whose text includes the end of the output. */
const WITH_TAIL: readonly StoredNotice['kind'][] = ['completion', 'heartbeat']

async function withText(
  kernel: Kernel,
  commands: Commands | undefined,
  { observed: _, ...notice }: StoredNotice,
): Promise<InboxNotice> {
  const tail = WITH_TAIL.includes(notice.kind) ? await tailOf(kernel, commands, notice.pid) : null
  return { ...notice, text: sentenceOf({ ...notice, tail }) }
}

/** Null without output, and where the log is elsewhere, gone or unreadable: the rest of the notice is still delivered. */
async function tailOf(kernel: Kernel, commands: Commands | undefined, pid: string): Promise<string | null> {
  const row = await kernel.edges.store.ask({ ask: 'process', pid })
  if (commands === undefined || row === null || row.record.kind !== 'command') return null
  try {
    return await commands.output.tail(row.record, TAIL_CHARS)
  } catch (error) {
    if (!(error instanceof RefusedError))
      kernel.edges.onTrouble(error, `reading the output of ${pid} for a notice`)
    return null
  }
}

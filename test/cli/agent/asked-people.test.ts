import { ReeveError, RefusedError } from 'reeve'
import { expect, test } from 'vitest'
import { AskedPeople, type AskedVerbs } from '../../../src/cli/agent/asked-people.ts'

type Event = { readonly type: string; readonly pid: string }
type Approval = Awaited<ReturnType<AskedVerbs['inspectAgent']>>['approvals'][number]

const event = (type: string, pid = 'p_1'): Event => ({ type, pid })

function approval(id: string, more: object = {}): Approval {
  const request = { type: 'question', subject: 's', text: `${id}?`, choices: null, ...more }
  const untyped: unknown = { id, pid: `of ${id}`, person: null, askedAt: id.charCodeAt(0), request }
  return untyped as Approval
}

/** An agent whose approvals and events the test plays. */
function agent({ isPerson = false } = {}) {
  const said: string[] = []
  const followed: number[] = []
  let waiting: readonly Approval[] = []
  let look: () => void = () => undefined
  let feed: AsyncIterable<Event> = eventsOf([])
  const asked = new AskedPeople(
    {
      inspectAgent: async () => {
        look()
        return { approvals: [...waiting] }
      },
      follow: ({ after }) => {
        followed.push(after)
        return feed
      },
    },
    { pid: 'p_1', root: 'p_0' },
    { say: (line) => said.push(line), ...(isPerson ? { changed: () => undefined, person: 'human:me' } : {}) },
  )
  return {
    said,
    followed,
    asked,
    play: (events: AsyncIterable<Event>) => {
      feed = events
    },
    wait: (...ids: readonly string[]) => {
      waiting = ids.map((id) => approval(id))
    },
    waitFor: (...approvals: readonly Approval[]) => {
      waiting = approvals
    },
    failWith: (error: Error) => {
      look = () => {
        throw error
      }
    },
  }
}

async function* eventsOf(steps: readonly (Event | (() => void))[]): AsyncGenerator<Event> {
  for (const step of steps) {
    if (typeof step === 'function') step()
    else yield step
  }
}

test('a request that waits already is said at once, and a new one when its event comes, each once', async () => {
  const { asked, said, followed, play, wait } = agent()
  wait('a')
  play(eventsOf([event('started'), () => wait('a', 'b'), event('approval_requested')]))
  await asked.follow(7)
  expect(followed).toEqual([7])
  expect(said.filter((line) => line.startsWith('?'))).toEqual(['? a?', '? b?'])
})

test('a failed look is said, and the next request is looked at', async () => {
  const { asked, said, play, failWith } = agent()
  failWith(new ReeveError('daemon_unreachable', 'The daemon is away.', 'Start it.'))
  play(eventsOf([event('approval_requested')]))
  await asked.follow(7)
  expect(said).toEqual([
    '(it is unknown what waits for your answer: The daemon is away. Start it.)',
    '(it is unknown what waits for your answer: The daemon is away. Start it.)',
  ])
})

test('after a gap in the feed everything is looked at again', async () => {
  const { asked, said, followed, play, wait } = agent()
  const details = { prunedThrough: 20 }
  const behind = () => {
    wait('a')
    play(eventsOf([]))
    throw new RefusedError({ code: 'behind_pruned', message: 'x', remedy: 'y', details })
  }
  play(eventsOf([behind]))
  await asked.follow(7)
  expect(followed).toEqual([7, 20])
  expect(said[0]).toBe('? a?')
})

test('a feed that cannot be followed is said', async () => {
  const { asked, said, play } = agent()
  const broken = () => {
    throw new ReeveError('daemon_unreachable', 'The daemon is away.', 'Start it.')
  }
  play(eventsOf([broken]))
  await asked.follow(7)
  expect(said).toEqual([
    '(new requests are not shown here any more; reeve approvals lists them: The daemon is away. Start it.)',
  ])
})

test('the oldest request that waits for the person here comes first; one that is settled elsewhere is said and leaves', async () => {
  const { asked, said, play, wait } = agent({ isPerson: true })
  wait('b', 'a')
  play(eventsOf([() => wait('b'), event('ended', 'p_9'), event('approval_settled', 'of a')]))
  const following = asked.follow(7)
  await expect.poll(() => asked.waiting.map(({ id }) => id)).toEqual(['b'])
  await following
  expect(said).toEqual(['? b?', '? a?', '(a does not wait any more: reeve approvals a)'])
})

test('a request that was answered here does not come back from an older list, and is not said to be gone', async () => {
  const { asked, said, play, wait } = agent({ isPerson: true })
  wait('a', 'b')
  play(eventsOf([() => asked.answered('a'), event('approval_settled', 'of a'), event('approval_requested')]))
  await asked.follow(7)
  expect(asked.waiting.map(({ id }) => id)).toEqual(['b'])
  expect(said).toEqual(['? a?', '? b?'])
})

test('a request to another person is said, and cannot be answered here', async () => {
  const { asked, said, waitFor } = agent({ isPerson: true })
  waitFor({ ...approval('a'), person: 'ana' })
  await asked.follow(7)
  expect(said[1]).toMatch(/^ {2}answer in another terminal: reeve reply a <text>/)
  expect(asked.waiting).toEqual([])
})

test('a doubt about the rule is said, and that an action cannot be undone; lines of the asker are indented', async () => {
  const { asked, said, waitFor } = agent({ isPerson: true })
  const permission = { type: 'permission', needs: ['execute shell:node --test\n? fake'], reason: null }
  const why = { justification: 'pushes are reviewed', doubt: 'node starts programs', defaultToNo: true }
  waitFor(approval('a', { ...permission, ...why }))
  await asked.follow(7)
  expect(said).toEqual([
    '? it wants to execute shell:node --test\n  ? fake (pushes are reviewed)',
    '  the rule may apply: node starts programs',
    '  it cannot be undone',
  ])
})

import { ReeveError, RefusedError } from 'reeve'
import { expect, test } from 'vitest'
import { AskedPeople, type AskedVerbs } from '../../../src/cli/agent/asked-people.ts'

type Event = { readonly type: string }
type Approval = Awaited<ReturnType<AskedVerbs['inspectAgent']>>['approvals'][number]

function approval(id: string): Approval {
  const request = { type: 'question', subject: 's', text: `${id}?`, choices: null }
  const untyped: unknown = { id, request }
  return untyped as Approval
}

/** An agent whose approvals and events the test plays. */
function agent() {
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
    (line) => said.push(line),
  )
  return {
    said,
    followed,
    asked,
    play: (events: AsyncIterable<Event>) => {
      feed = events
    },
    wait: (...ids: readonly string[]) => {
      waiting = ids.map(approval)
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
  play(eventsOf([{ type: 'started' }, () => wait('a', 'b'), { type: 'approval_requested' }]))
  await asked.follow(7)
  expect(followed).toEqual([7])
  expect(said.filter((line) => line.startsWith('?'))).toEqual(['? a?', '? b?'])
})

test('a failed look is said, and the next request is looked at', async () => {
  const { asked, said, play, failWith } = agent()
  failWith(new ReeveError('daemon_unreachable', 'The daemon is away.', 'Start it.'))
  play(eventsOf([{ type: 'approval_requested' }]))
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

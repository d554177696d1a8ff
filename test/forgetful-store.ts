import type { Changes, Store } from '../src/store/contract.ts'

/**
 * A store whose change feed leaves events of one type out, as if they had been pruned before a slow reader came to them. Commits in this
 * program do not hand their events on either.
 */
export function forgetfulStore(inner: Store, forgets: (type: string) => boolean): Store {
  const { durability, blobs, locks } = inner
  return {
    durability,
    blobs,
    ...(locks === undefined ? {} : { locks }),
    ask: async (question) => {
      const answer = await inner.ask(question)
      return question.ask === 'changes' ? (without(answer as Changes, forgets) as typeof answer) : answer
    },
    write: (plan) => inner.write(plan),
    onCommit: (listener) => inner.onCommit((commit) => listener({ ...commit, events: null })),
    close: () => inner.close(),
  }
}

function without(changes: Changes, forgets: (type: string) => boolean): Changes {
  const { events, prunedThrough } = changes
  const forgotten = events.findLast(({ type }) => forgets(type))
  return {
    ...changes,
    events: events.filter(({ type }) => !forgets(type)),
    prunedThrough: Math.max(prunedThrough, forgotten?.position ?? 0),
  }
}

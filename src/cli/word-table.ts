import { resolveAlias } from './aliases.ts'
import type { Word, Words } from './word.ts'

type Loaders = Readonly<Record<string, () => Promise<Word>>>

/** Every word, in the groups in which the help shows them. Each is loaded when it is called. */
const GROUPS: readonly (readonly [title: string, words: Loaders])[] = [
  [
    'Run and look',
    {
      run: async () => (await import('./words/run.ts')).run,
      track: async () => (await import('./words/track.ts')).track,
      ps: async () => (await import('./words/ps.ts')).ps,
      tree: async () => (await import('./words/tree.ts')).tree,
      top: async () => (await import('./words/top.ts')).top,
      show: async () => (await import('./words/show.ts')).show,
      logs: async () => (await import('./words/logs.ts')).logs,
      search: async () => (await import('./words/search.ts')).search,
      inbox: async () => (await import('./words/inbox.ts')).inbox,
      events: async () => (await import('./words/events.ts')).events,
      workflow: async () => (await import('./words/workflow.ts')).workflow,
    },
  ],
  [
    'Talk and steer',
    {
      attach: async () => (await import('./words/attach.ts')).attach,
      screen: async () => (await import('./words/screen.ts')).screen,
      send: async () => (await import('./words/send.ts')).send,
      wait: async () => (await import('./words/wait.ts')).wait,
      signal: async () => (await import('./words/signal.ts')).signal,
      kill: async () => (await import('./words/kill.ts')).kill,
      restart: async () => (await import('./words/restart.ts')).restart,
      interrupt: async () => (await import('./words/interrupt.ts')).interrupt,
    },
  ],
  [
    'The daemon',
    {
      up: async () => (await import('./words/up.ts')).up,
      down: async () => (await import('./words/down.ts')).down,
      status: async () => (await import('./words/status.ts')).status,
      doctor: async () => (await import('./words/doctor.ts')).doctor,
      config: async () => (await import('./words/config.ts')).config,
      secret: async () => (await import('./words/secret.ts')).secret,
      token: async () => (await import('./words/token.ts')).token,
      prune: async () => (await import('./words/prune.ts')).prune,
      rm: async () => (await import('./words/rm.ts')).rm,
      backup: async () => (await import('./words/backup.ts')).backup,
      restore: async () => (await import('./words/restore.ts')).restore,
      session: async () => (await import('./words/session.ts')).session,
      holders: async () => (await import('./words/holders.ts')).holders,
    },
  ],
  [
    'And',
    {
      mcp: async () => (await import('./words/mcp.ts')).mcp,
      call: async () => (await import('./words/call.ts')).call,
      completion: async () => (await import('./words/completion.ts')).completion,
      demo: async () => (await import('./words/demo.ts')).demo,
      help: async () => (await import('./words/help.ts')).help,
      version: async () => (await import('./words/version.ts')).version,
    },
  ],
]

/** Not shown: shells ask it what could come next. */
const HIDDEN = { __complete: async () => (await import('./words/complete.ts')).complete }

const shown: Loaders = Object.assign({}, ...GROUPS.map(([, words]) => words))
const all: Loaders = { ...shown, ...HIDDEN }

export const words: Words = {
  groups: GROUPS.map(([title, group]) => [title, Object.keys(group)]),
  names: Object.keys(shown),
  load: (name) => {
    const own = Object.hasOwn(all, name) ? name : resolveAlias(name)
    return Object.hasOwn(all, own) ? all[own]?.() : undefined
  },
}

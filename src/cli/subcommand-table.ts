import { resolveAlias } from './aliases.ts'
import type { Subcommand, Subcommands } from './subcommand.ts'

type Loaders = Readonly<Record<string, () => Promise<Subcommand>>>

/** All subcommands, in the groups of the help. A subcommand is loaded when it is called. */
const GROUPS: readonly (readonly [title: string, subcommands: Loaders])[] = [
  [
    'Run and look',
    {
      run: async () => (await import('./subcommands/run.ts')).run,
      track: async () => (await import('./subcommands/track.ts')).track,
      ps: async () => (await import('./subcommands/ps.ts')).ps,
      tree: async () => (await import('./subcommands/tree.ts')).tree,
      top: async () => (await import('./subcommands/top.ts')).top,
      show: async () => (await import('./subcommands/show.ts')).show,
      logs: async () => (await import('./subcommands/logs.ts')).logs,
      search: async () => (await import('./subcommands/search.ts')).search,
      inbox: async () => (await import('./subcommands/inbox.ts')).inbox,
      events: async () => (await import('./subcommands/events.ts')).events,
      workflow: async () => (await import('./subcommands/workflow.ts')).workflow,
      agent: async () => (await import('./subcommands/agent.ts')).agent,
      skill: async () => (await import('./subcommands/skill.ts')).skill,
      image: async () => (await import('./subcommands/image.ts')).image,
      object: async () => (await import('./subcommands/object.ts')).object,
      tool: async () => (await import('./subcommands/tool.ts')).tool,
      worktree: async () => (await import('./subcommands/worktree.ts')).worktree,
      schedule: async () => (await import('./subcommands/schedule.ts')).schedule,
      trigger: async () => (await import('./subcommands/trigger.ts')).trigger,
    },
  ],
  [
    'Talk and steer',
    {
      attach: async () => (await import('./subcommands/attach.ts')).attach,
      screen: async () => (await import('./subcommands/screen.ts')).screen,
      send: async () => (await import('./subcommands/send.ts')).send,
      message: async () => (await import('./subcommands/message.ts')).message,
      wait: async () => (await import('./subcommands/wait.ts')).wait,
      signal: async () => (await import('./subcommands/signal.ts')).signal,
      kill: async () => (await import('./subcommands/kill.ts')).kill,
      restart: async () => (await import('./subcommands/restart.ts')).restart,
      interrupt: async () => (await import('./subcommands/interrupt.ts')).interrupt,
    },
  ],
  [
    'Ask first',
    {
      approvals: async () => (await import('./subcommands/approvals.ts')).approvals,
      approve: async () => (await import('./subcommands/approve.ts')).approve,
      deny: async () => (await import('./subcommands/deny.ts')).deny,
      reply: async () => (await import('./subcommands/reply.ts')).reply,
      trust: async () => (await import('./subcommands/trust.ts')).trust,
      policy: async () => (await import('./subcommands/policy.ts')).policy,
    },
  ],
  [
    'The daemon',
    {
      up: async () => (await import('./subcommands/up.ts')).up,
      down: async () => (await import('./subcommands/down.ts')).down,
      status: async () => (await import('./subcommands/status.ts')).status,
      doctor: async () => (await import('./subcommands/doctor.ts')).doctor,
      config: async () => (await import('./subcommands/config.ts')).config,
      secret: async () => (await import('./subcommands/secret.ts')).secret,
      token: async () => (await import('./subcommands/token.ts')).token,
      prune: async () => (await import('./subcommands/prune.ts')).prune,
      rm: async () => (await import('./subcommands/rm.ts')).rm,
      backup: async () => (await import('./subcommands/backup.ts')).backup,
      restore: async () => (await import('./subcommands/restore.ts')).restore,
      audit: async () => (await import('./subcommands/audit.ts')).audit,
      session: async () => (await import('./subcommands/session.ts')).session,
      holders: async () => (await import('./subcommands/holders.ts')).holders,
    },
  ],
  [
    'And',
    {
      mcp: async () => (await import('./subcommands/mcp.ts')).mcp,
      acp: async () => (await import('./subcommands/acp.ts')).acp,
      call: async () => (await import('./subcommands/call.ts')).call,
      completion: async () => (await import('./subcommands/completion.ts')).completion,
      demo: async () => (await import('./subcommands/demo.ts')).demo,
      help: async () => (await import('./subcommands/help.ts')).help,
      version: async () => (await import('./subcommands/version.ts')).version,
    },
  ],
]

/** Not in the help: the completion scripts call it. */
const HIDDEN = { __complete: async () => (await import('./subcommands/complete.ts')).complete }

const shown: Loaders = Object.assign({}, ...GROUPS.map(([, subcommands]) => subcommands))
const all: Loaders = { ...shown, ...HIDDEN }

export const subcommands: Subcommands = {
  groups: GROUPS.map(([title, group]) => [title, Object.keys(group)]),
  names: Object.keys(shown),
  load: (name) => {
    const own = Object.hasOwn(all, name) ? name : resolveAlias(name)
    return Object.hasOwn(all, own) ? all[own]?.() : undefined
  },
}

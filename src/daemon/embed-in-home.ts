import type { ToolboxParts } from '../agent/toolbox/toolbox.ts'
import { ReeveError } from '../core/errors.ts'
import { BASE_IMAGE } from '../core/image/built-in.ts'
import type { JsonObject } from '../core/json/json.ts'
import { defaultModel, KEY_NAMES, type ModelDefaults } from '../core/model/default-model.ts'
import { type Embedded, embedWith } from '../embed/embed.ts'
import type { EmbedOptions } from '../embed/options.ts'
import type { HomePaths } from '../home/paths.ts'
import { isPidInUse } from '../os/identity.ts'
import { ownProgram } from '../package/own-files.ts'
import type { Redaction } from '../redaction/redaction.ts'
import { AnchorFile } from './anchor-file.ts'
import type { DaemonLog } from './log.ts'
import { alreadyRunning } from './one-daemon.ts'
import { SecretFile } from './secret-file.ts'
import type { Settings } from './settings.ts'

/** How long a keeper may take to notice that its daemon was killed. */
const NOTICE_MS = 5_000
const LOOK_MS = 20

/**
 * Embeds a kernel with the settings of the daemon. The keeper may not have noticed yet that the previous daemon is gone. Only a
 * live daemon prevents the start.
 */
export async function embedInHome(parts: EmbedInHomeParts): Promise<Embedded> {
  for (const until = Date.now() + NOTICE_MS; ; ) {
    try {
      return await embeddedOnce(parts)
    } catch (error) {
      if (!(error instanceof ReeveError) || error.code !== 'daemon_already_running') throw error
      const { osPid } = error.details as { osPid: number | null }
      const isDead = osPid !== null && osPid !== process.pid && !isPidInUse(osPid)
      if (!isDead || Date.now() > until) throw alreadyRunning(parts.home, osPid)
      await new Promise((resolve) => setTimeout(resolve, LOOK_MS))
    }
  }
}

export interface EmbedInHomeParts {
  readonly home: HomePaths
  readonly values: Settings
  readonly log: DaemonLog
  readonly redaction: Redaction
  readonly times: EmbedOptions['times'] | undefined
  /** Where the daemon listens, once it does. */
  readonly ownAddresses: ToolboxParts['ownAddresses']
}

async function embeddedOnce(parts: EmbedInHomeParts): Promise<Embedded> {
  const { home, values, log, redaction, times, ownAddresses } = parts
  const { mostCommands, graceMs, environment, shell, tree, waitMs } = values
  const secrets = new SecretFile(home)
  const options: EmbedOptions = {
    store: values.store ?? home.store,
    ...(times === undefined ? {} : { times }),
    commands: {
      home: home.commands,
      most: mostCommands,
      graceMs,
      environment,
      tree,
      ...(shell === null ? {} : { shell }),
      output: {
        headBytes: values.outputHeadBytes,
        tailBytes: values.outputTailBytes,
        totalBytes: values.outputTotalBytes,
        minFreeBytes: values.minFreeBytes,
      },
    },
    retention: {
      ...(values.keepEndedMs === 0 ? {} : { maxAgeMs: values.keepEndedMs }),
      ...(values.keepEnded === 0 ? {} : { maxEnded: values.keepEnded }),
      ...(values.keepToolCallsMs === 0 ? {} : { toolCallMaxAgeMs: values.keepToolCallsMs }),
      ...(values.keepAuditMs === 0 ? {} : { auditMaxAgeMs: values.keepAuditMs }),
      ...(values.keepAudit === 0 ? {} : { auditMaxEntries: values.keepAudit }),
    },
    ...(values.sessionPreset === null ? {} : { sessionPreset: values.sessionPreset }),
    home: home.folder,
    ...agentDefaults(values),
    memory: {
      timeoutMs: values.memoryTimeoutMs,
      ...(values.memoryModel === null ? {} : { model: values.memoryModel }),
    },
    modelOptions: { providers: values.providers, models: values.models },
    secrets,
    waits: { defaultMs: waitMs },
    flood: {
      everyMs: values.watchEveryMs,
      strikes: values.watchStrikes,
      burst: values.watchBurst,
      burstMs: values.watchBurstMs,
      silenceMs: values.watchSilenceMs,
    },
    onReveal: (revealed) => log.warn({ ...revealed }, 'secrets were shown'),
    onTrouble: (error, doing) => log.warn({ err: error, doing }, `trouble while ${doing}`),
  }
  return embedWith(options, {
    redaction,
    anchorLog: new AnchorFile(home, log),
    logTrouble: () => log.trouble?.() ?? null,
    secretsTrouble: () => secrets.trouble(),
    // A file that cannot be read is among the troubles of the daemon.
    modelDefaults: () => modelDefaults(process.env, secrets.trouble() === null ? secrets.read() : {}),
    toolboxParts: { ownAddresses },
    outside: { ownServer: (session, agent) => ownMcpServer(home, session, agent) },
  })
}

/** How a program below the daemon starts Reeve's MCP server for its session. */
function ownMcpServer(home: HomePaths, session: string, agent: string): JsonObject {
  const env = { REEVE_HOME: home.folder, REEVE_SESSION: session, REEVE_PARENT: agent }
  return {
    name: 'reeve',
    command: process.execPath,
    args: [ownProgram('main'), 'mcp'],
    env: Object.entries(env).map(([name, value]) => ({ name, value })),
  }
}

function modelDefaults(env: NodeJS.ProcessEnv, secrets: Readonly<Record<string, string>>): ModelDefaults {
  const keys = KEY_NAMES.filter((name) => (secrets[name] ?? env[name] ?? '') !== '')
  const model = defaultModel(env['REEVE_MODEL'], (name) => keys.includes(name))
  return { keys, ...(model === undefined ? {} : { model }) }
}

/** Left out if no setting differs from what an agent is anyway. */
function agentDefaults({
  agentImage: image,
  agentGoal: goal,
  agentBudget: budget,
  memory,
}: Settings): Pick<EmbedOptions, 'agents'> {
  const agents = {
    ...(image === BASE_IMAGE ? {} : { image }),
    ...(goal === null ? {} : { goal }),
    ...(Object.keys(budget).length === 0 ? {} : { budget }),
    ...(memory ? { memory } : {}),
  }
  return Object.keys(agents).length === 0 ? {} : { agents }
}

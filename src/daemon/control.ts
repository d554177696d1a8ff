import { delimiter, join } from 'node:path'
import type { DaemonControl, SettingSpec, UpFlags } from '../cli/daemon-control.ts'
import { ReeveError, RefusedError } from '../core/errors.ts'
import type { RunningDaemon } from '../home/announced-daemon.ts'
import { homePaths } from '../home/paths.ts'
import { isExecutable } from '../os/file-access.ts'
import { launcher, ownVersion } from '../package/own-files.ts'

/** The daemon's code for the command line. Each part is loaded when it is called. */
export const daemonControl: DaemonControl = {
  version: ownVersion,
  calledAs,
  async up(home, flags, { ready, stopping }) {
    const [{ run }, { announcedDaemon }] = await Promise.all([
      import('./run.ts'),
      import('../home/announced-daemon.ts'),
    ])
    const announced = () => ready(announcedDaemon(homePaths(home)) as RunningDaemon)
    return run({
      home,
      flags,
      onReady: announced,
      async onStopping({ reeve }, how) {
        const { processes } = await reeve.list({ filter: { kind: 'command' } })
        stopping(
          processes.map(({ record }) => record),
          how,
        )
      },
    })
  },
  async start(home, flags) {
    const [{ detach }, settings] = await Promise.all([import('./detach.ts'), specsFor(flags)])
    const env = { ...process.env, ...variablesFor(flags, settings) }
    return detach({ home, program: launcher(), args: ['--quiet', ...argumentsFor(flags, settings)], env })
  },
  async running(home) {
    const { presentDaemon } = await import('../home/present-daemon.ts')
    return presentDaemon(homePaths(home))
  },
  async wasStopped(home) {
    const { announcedDaemon } = await import('../home/announced-daemon.ts')
    const noted = announcedDaemon(homePaths(home))
    return noted === null || noted.stopping === true
  },
  async down(home, { keep }) {
    const { down } = await import('./down.ts')
    try {
      return await down({ home, keep })
    } catch (error) {
      if (error instanceof ReeveError && error.code === 'daemon_not_running') return null
      throw error
    }
  },
  async settings() {
    const { settings } = await import('./settings.ts')
    return settings.map(({ name, flag, variable, isSwitch, isSecret, description }) => ({
      key: name,
      option: flag.slice(2),
      variable,
      isSwitch,
      isSecret,
      about: description,
    }))
  },
  async configuration(home, flags) {
    const { configuration } = await import('./load-settings.ts')
    const { values, sources } = configuration(flags, process.env, homePaths(home))
    return Object.entries(values).map(([key, value]) => ({
      key,
      value: key === 'otelHeaders' ? withoutValues(value) : withoutPassword(value),
      from: sources[key as keyof typeof sources],
    }))
  },
  async tokens(home) {
    const [{ TokenFile }, { prepareHome }] = await Promise.all([
      import('./token-file.ts'),
      import('../home/prepare.ts'),
    ])
    const paths = homePaths(home)
    prepareHome(paths)
    const file = new TokenFile(paths)
    return {
      create: async (asked) => {
        const { token, kept } = file.create(asked as Parameters<typeof file.create>[0])
        return { token, id: kept.id }
      },
      list: async () => file.all().map(({ hash: _, ...token }) => token),
      revoke: async (id) => file.revoke(id),
    }
  },
  async secrets(home) {
    const [{ SecretFile }, { prepareHome }] = await Promise.all([
      import('./secret-file.ts'),
      import('../home/prepare.ts'),
    ])
    const paths = homePaths(home)
    prepareHome(paths)
    const file = new SecretFile(paths)
    return {
      set: async (name, value) => file.set(name, value),
      list: async () => file.list(),
      remove: async (name) => file.remove(name),
    }
  },
  async backUp(home, into, options) {
    const [{ backUp }, { configuration }] = await Promise.all([
      import('./backup/back-up.ts'),
      import('./load-settings.ts'),
    ])
    const paths = homePaths(home)
    const { store } = configuration({}, process.env, paths).values
    return backUp({ home: paths, store: store ?? paths.store, into, ...options })
  },
  async restore(home, from) {
    const { restore } = await import('./backup/restore.ts')
    return restore({ home: homePaths(home), from })
  },
  async *checks(home, folder) {
    const { checks } = await import('./checks.ts')
    yield* checks(homePaths(home), folder)
  },
  async mcp(reeve, quiet, given) {
    const { session, structured, since, sharesEnvironment, startDaemon, operator, preset, readOnly } = given
    // At once, and not with the first call of the agent.
    if (preset !== undefined) await refuseUnknownPreset(preset)
    const [{ serveMcpStdio }, { clientEnvironment }] = await Promise.all([
      import('../mcp/stdio.ts'),
      import('../command/environment/client.ts'),
    ])
    const environment = { base: clientEnvironment(process.env), variables: process.env }
    const shared = sharesEnvironment ? { environment } : {}
    const bound = session === null ? {} : { session }
    const operating = operator === null ? {} : { operator }
    const beginning = preset === undefined ? {} : { preset }
    const connected = { quiet, structured, since, startDaemon, readOnly }
    const options = { ...connected, ...shared, ...bound, ...operating, ...beginning }
    await serveMcpStdio(reeve, options).closed
    return 0
  },
  async acp(reeve, { models, preset, system }) {
    // At once, and not with the first session of the editor.
    if (preset !== undefined) await refuseUnknownPreset(preset)
    const { serveAcpStdio } = await import('../acp/stdio.ts')
    const options = {
      models,
      ...(preset === undefined ? {} : { preset }),
      ...(system === undefined ? {} : { system }),
    }
    const { stdin: input, stdout: output } = process
    await serveAcpStdio(reeve, options, { input, output, version: ownVersion() })
    return 0
  },
  async demo(which) {
    if (which === 'agent') return (await import('../demo/agent-demo.ts')).agentDemo()
    const { demo } = await import('../demo/demo.ts')
    return demo()
  },
}

async function refuseUnknownPreset(name: string): Promise<void> {
  const { isPreset, presetRefusal } = await import('../core/capability/presets.ts')
  if (!isPreset(name)) throw new RefusedError(presetRefusal(name))
}

function calledAs(): string {
  const isInPath = (process.env['PATH'] ?? '')
    .split(delimiter)
    // npm and npx add folders of their own, which the user's shell does not have.
    .some((folder) => !/node_modules[/\\]\.bin[/\\]?$/.test(folder) && isExecutable(join(folder, 'reeve')))
  return isInPath ? 'reeve' : launcher()
}

/** Masks the password in a URL: terminal output ends up in logs and screenshots. */
function withoutPassword(value: unknown): unknown {
  if (typeof value !== 'string') return value
  return value
    .replace(/(:\/\/[^:/@\s]*:)[^@\s]*@/, '$1***@')
    .replaceAll(/([?&](ssl)?password=)[^&]*/g, '$1***')
}

/** The names of the headers without their values. */
function withoutValues(value: unknown): unknown {
  return typeof value === 'string' ? value.replaceAll(/=[^,]*/g, '=***') : value
}

async function specsFor(flags: UpFlags): Promise<readonly SettingSpec[]> {
  return Object.keys(flags).length === 0 ? [] : daemonControl.settings()
}

/** The flags for the daemon's own command line, without secrets: every user can read the arguments of a program. */
function argumentsFor(flags: UpFlags, settings: readonly SettingSpec[]): string[] {
  return settings.flatMap(({ key, option, isSecret }) => {
    const value = flags[key]
    if (value === undefined || value === false || isSecret) return []
    return value === true ? [`--${option}`] : [`--${option}=${value}`]
  })
}

function variablesFor(flags: UpFlags, settings: readonly SettingSpec[]): Record<string, string> {
  const secret = settings.filter(({ key, isSecret }) => isSecret && flags[key] !== undefined)
  return Object.fromEntries(secret.map(({ key, variable }) => [variable, String(flags[key])]))
}

import { resolve } from 'node:path'
import { type DataFolderPaths, dataFolderAt } from '../keeper/protocol/data-folder-paths.ts'
import { PROTOCOL } from '../keeper/protocol/messages.ts'
import type { Redaction } from '../redaction/redaction.ts'
import { attend } from './attend/attend.ts'
import { commandSpecOf } from './command-spec.ts'
import { Commands } from './commands.ts'
import { takeHome } from './daemon-lock.ts'
import { needsLinux, preparedDataFolder } from './data-folder.ts'
import { COMMAND_DEFAULTS } from './defaults.ts'
import { BaseEnvironment } from './environment/base.ts'
import { InheritedEnvironments } from './environment/inherited.ts'
import type { NamedSecrets } from './environment/named-secrets.ts'
import { PassedSecrets } from './environment/passed-secrets.ts'
import { keepPrinted } from './environment/printed-secrets.ts'
import { KeeperSide, type KeeperSideOptions } from './keeper-side.ts'
import { type CommandsOptions, settingsOf } from './options.ts'
import { Cursors } from './output/cursors.ts'
import { endSignalOf, makePlan } from './plan.ts'
import { type Daemon, reachKeeper, reachOlder } from './reach-keeper.ts'

interface Surroundings {
  readonly daemon: Daemon
  readonly redaction: Redaction
  readonly named: NamedSecrets
  readonly onTrouble: (error: unknown, doing: string) => void
}

/** Reaches the keeper of the data folder, or starts one. Refused while another daemon uses the folder. */
export async function openCommands(options: CommandsOptions, surroundings: Surroundings): Promise<Commands> {
  if (process.platform !== 'linux') throw needsLinux()
  const home = dataFolderAt(resolve(options.home), PROTOCOL)
  const folder = preparedDataFolder(home)
  const lock = takeHome(home, surroundings.daemon)
  try {
    const opened = Promise.withResolvers<Commands>()
    const opening = { home, ...folder, opened: opened.promise }
    const { parts, keeperOptions } = partsFor(options, surroundings, opening)
    const keepers = await openKeepers(home, surroundings.daemon, keeperOptions)
    const commands = new Commands({ ...parts, home, lock, keepers })
    opened.resolve(commands)
    return commands
  } catch (error) {
    lock.release()
    throw error
  }
}

function partsFor(
  options: CommandsOptions,
  { redaction, named, onTrouble }: Surroundings,
  folder: {
    readonly home: DataFolderPaths
    readonly id: string
    readonly restoredFrom: readonly string[]
    readonly opened: Promise<Commands>
  },
) {
  const { home, id, restoredFrom, opened } = folder
  const settings = settingsOf(options)
  const { shell } = settings
  const environment = new BaseEnvironment(
    shell,
    options.environment ?? COMMAND_DEFAULTS.environment,
    onTrouble,
  )
  const passed = new PassedSecrets(home.passed)
  const inherited = new InheritedEnvironments(home.inherited, {
    onTrouble,
    onEnd: (record, env) => keepPrinted(record, env, { passed, output: home.output }),
  })
  const keeperOptions: Omit<KeeperSideOptions, 'serves' | 'reach'> = {
    homeId: id,
    restoredFrom,
    fifos: home.fifos,
    most: options.most ?? COMMAND_DEFAULTS.most,
    plan: (record, kernel) => makePlan(record, kernel, { environment, passed, inherited, named, settings }),
    ends: (record, { how, graceMs }) => ({
      signal: how === 'interrupt' ? 'SIGINT' : endSignalOf(record),
      graceMs: graceMs ?? commandSpecOf(record).graceMs ?? settings.graceMs,
    }),
    attend: (work, kernel, keeper) =>
      attend(work, kernel, {
        output: home.output,
        cursors: new Cursors(home.cursors),
        onTrouble,
        surroundings: async () => {
          const { cwd, env } = await keeperOptions.plan(work.record, kernel)
          return { shell, cwd, env }
        },
        follow: (grew) => keeper.follow(work.record.pid, grew),
        masking: async () => (await opened).output.maskingOf(work.record),
      }),
    shell,
    base: () => environment.variables(),
    onTrouble,
  }
  const totalBytes = options.output?.totalBytes ?? COMMAND_DEFAULTS.totalBytes
  const parts = { environment, passed, inherited, named, settings, totalBytes, redaction, onTrouble }
  return { parts, keeperOptions }
}

/** The keeper for new commands first, then those of older protocols that still have programs. */
async function openKeepers(
  home: DataFolderPaths,
  daemon: Daemon,
  options: Omit<KeeperSideOptions, 'serves' | 'reach'>,
): Promise<readonly KeeperSide[]> {
  const current = await KeeperSide.open({
    ...options,
    serves: [{ kind: 'command', targets: null }],
    reach: (listening) => reachKeeper(home, daemon, listening),
  })
  try {
    const gone = async (former: KeeperSide) => current?.takeOverFrom(former)
    const older = await reachOlder(home, daemon, { ...options, gone })
    return current === undefined ? older : [current, ...older]
  } catch (error) {
    await current?.close()
    throw error
  }
}

import type { DaemonControl, UpFlags } from './daemon-control.ts'
import type { OptionSpecs } from './options.ts'

/** All settings of the daemon, as options. */
export async function settingOptions(daemon: DaemonControl): Promise<OptionSpecs> {
  const settings = await daemon.settings()
  return Object.fromEntries(
    settings.map(({ option, isSwitch, about }) => [
      option,
      { type: isSwitch ? 'flag' : 'text', about } as const,
    ]),
  )
}

/** The settings among the given options, by key. */
export async function flagsGiven(
  daemon: DaemonControl,
  options: Readonly<Record<string, unknown>>,
): Promise<UpFlags> {
  const settings = await daemon.settings()
  const given = settings.flatMap(({ key, option }) => {
    const value = options[option]
    return typeof value === 'string' || value === true ? [[key, value] as const] : []
  })
  return Object.fromEntries(given)
}

import { constants } from 'node:os'

const names = new Map(Object.entries(constants.signals).map(([name, number]) => [number, name]))

/** `SIGKILL` for 9. Numbers without a name, real-time signals, are called `SIG` and their number. */
export function signalName(number: number): string {
  return names.get(number) ?? `SIG${number}`
}

export function isSignal(name: string): name is NodeJS.Signals {
  return Object.hasOwn(constants.signals, name)
}

import type { ProfileFormatName } from './profile-formats.js'
import type { ProfileWriter } from './writer.js'

/** The writers of profiles; each is loaded when it is used. */
export const PROFILE_WRITERS: Readonly<Record<ProfileFormatName, () => Promise<ProfileWriter>>> = {
  pprof: async () => (await import('./pprof.js')).pprof,
  collapsed: async () => (await import('./collapsed.js')).collapsed,
  speedscope: async () => (await import('./speedscope.js')).speedscope,
  dhat: async () => (await import('./dhat.js')).dhat,
  massif: async () => (await import('./massif.js')).massif,
  chrome: async () => (await import('./chrome.js')).chrome,
}

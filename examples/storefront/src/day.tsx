import { useShopper } from './shopper'
import { textsLanguage } from './texts'

/** Day shows a date. The server's time zone can differ from the shopper's. */
export function Day({ at }: { at: string }) {
  const [{ language }] = useShopper()
  return <time dateTime={at} suppressHydrationWarning>{new Intl.DateTimeFormat(textsLanguage(language), { dateStyle: 'long' }).format(new Date(at))}</time>
}

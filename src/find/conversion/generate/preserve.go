
// preserved holds the values that steps lose, by step and place, on their way into the object and out of it.
type preserved struct {
	names      path
	annotation bool
	// storeAs is the side of the version that is converted from: "old" or "new".
	storeAs         string
	toRestore       map[string]any
	toStore         map[string]any
	convertedBefore bool
	keys            [][]string
}

// keptStep is a step whose lost values are preserved. undo is its inverse.
type keptStep struct {
	name, field string
	inner       []path
	needsParent bool
	apply, undo func(c any) (any, error)
}

func loadPreserved(object any, names path, annotation bool, restore, store string) *preserved {
	found, _ := get(object, names)
	if text, ok := found.(string); ok && annotation {
		found = parseJSON(text)
	} else if annotation {
		found = nil
	}
	side := func(name string) map[string]any {
		whole, _ := found.(map[string]any)
		values, _ := whole[name].(map[string]any)
		copied := map[string]any{}
		for key, value := range values {
			copied[key] = deepCopy(value)
		}
		return copied
	}
	kept := &preserved{names: names, annotation: annotation, storeAs: store, toRestore: side(restore), toStore: side(store)}
	kept.convertedBefore = len(kept.toStore) > 0
	kept.keys = [][]string{{"name"}}
	labels := make([]string, 0, len(kept.toRestore))
	for label := range kept.toRestore {
		labels = append(labels, label)
	}
	sort.Strings(labels)
	for _, label := range labels {
		for rest := label; strings.Contains(rest, "["); {
			var names []string
			names, rest = keyNames(rest[strings.Index(rest, "[")+1:])
			known := len(names) == 0
			for _, other := range kept.keys {
				known = known || reflect.DeepEqual(other, names)
			}
			if !known {
				kept.keys = append(kept.keys, names)
			}
		}
	}
	return kept
}

// keyNames returns the names in `port=80,protocol="TCP"]…`, and what follows them.
func keyNames(text string) ([]string, string) {
	var names []string
	for {
		end := strings.IndexAny(text, `=]"[,`)
		if end < 0 {
			end = len(text)
		}
		name, rest := text[:end], text[end:]
		if !strings.HasPrefix(rest, "=") {
			return names, rest
		}
		names = append(names, name)
		decoder := json.NewDecoder(strings.NewReader(rest[1:]))
		var value any
		if decoder.Decode(&value) != nil {
			return names, rest[1:]
		}
		rest = rest[1+decoder.InputOffset():]
		if !strings.HasPrefix(rest, ",") {
			return names, rest
		}
		text = rest[1:]
	}
}

// store writes the values to preserve into the object.
func (kept *preserved) store(object any) any {
	if len(kept.toStore) == 0 {
		take(object, kept.names)
		return object
	}
	var value any = map[string]any{kept.storeAs: kept.toStore}
	if kept.annotation {
		value = toJSON(value)
	}
	if written, err := put(object, kept.names, value); err == nil {
		return written
	}
	return object
}

// step applies a step to every container, or restores what was preserved there.
func (kept *preserved) step(root any, way []segment, one keptStep) (any, error) {
	return kept.each(root, way, one.inner, &place{}, func(c any, at *place) (any, error) {
		if kept.restore(one, at, c) {
			return c, nil
		}
		before := view(c, one.inner)
		c, err := one.apply(c)
		if err != nil {
			return nil, err
		}
		kept.remember(one, at, before, c)
		return c, nil
	})
}

// restore puts back what was preserved for a place, if converting it gives what the object has now.
func (kept *preserved) restore(one keptStep, at *place, c any) bool {
	for _, label := range at.labels() {
		key := one.key(label)
		found, ok := kept.toRestore[key]
		if !ok {
			continue
		}
		delete(kept.toRestore, key)
		packed, ok := found.([]any)
		if !ok || len(packed) != len(one.inner) || !one.canWrite(c) {
			return false
		}
		saved := make([][]any, len(packed))
		for index, value := range packed {
			if values, ok := value.([]any); ok && len(values) > 0 {
				saved[index] = values[:1]
			}
		}
		undone, ok := one.undone(saved, c)
		if !ok || !reflect.DeepEqual(undone, view(c, one.inner)) {
			return false
		}
		assign(c, one.inner, saved)
		return true
	}
	return false
}

// remember preserves the values before a step if its inverse wouldn't restore them.
func (kept *preserved) remember(one keptStep, at *place, before [][]any, c any) {
	after := view(c, one.inner)
	undone, ok := one.undone(after, c)
	restored := ok && reflect.DeepEqual(undone, before)
	unchanged := reflect.DeepEqual(after, before)
	if unchanged && restored {
		return
	}
	key := one.key(at.label())
	_, known := kept.toStore[key]
	known = known || kept.convertedBefore && len(at.items) > 0
	if restored {
		delete(kept.toStore, key)
	} else if !unchanged || !known {
		packed := make([]any, len(before))
		for index, values := range before {
			packed[index] = append([]any{}, values...)
		}
		kept.toStore[key] = packed
	}
}

func (one keptStep) key(label string) string {
	dot := "."
	if label == "" || one.field == "" || strings.HasPrefix(one.field, "[") {
		dot = ""
	}
	return one.name + " " + label + dot + one.field
}

func (one keptStep) canWrite(c any) bool {
	for _, names := range one.inner {
		if c == nil && len(names) > 0 {
			return false
		}
		if one.needsParent {
			if len(names) == 0 {
				return false
			}
			if _, ok := get(c, names[:len(names)-1]); !ok {
				return false
			}
		}
	}
	return true
}

// undone returns what the inverse makes of these values, in a container with the parents that the real one has.
func (one keptStep) undone(values [][]any, c any) ([][]any, bool) {
	var scratch any = map[string]any{}
	for _, names := range one.inner {
		for depth := len(names) - 1; depth > 0; depth-- {
			if _, ok := get(c, names[:depth]); ok {
				if written, err := put(scratch, names[:depth], map[string]any{}); err == nil {
					scratch = written
				}
				break
			}
		}
	}
	scratch = assign(scratch, one.inner, values)
	scratch, err := one.undo(scratch)
	if err != nil {
		return nil, false
	}
	return view(scratch, one.inner), true
}

// view returns the values at some paths: a list of one each, or nil where there is none.
func view(c any, inner []path) [][]any {
	values := make([][]any, len(inner))
	for index, names := range inner {
		if value, ok := get(c, names); ok {
			values[index] = []any{deepCopy(value)}
		}
	}
	return values
}

// assign puts values at some paths; where there is none, it removes what is there.
func assign(c any, inner []path, values [][]any) any {
	for index, names := range inner {
		if len(values[index]) == 0 {
			take(c, names)
		}
	}
	for index, names := range inner {
		if len(values[index]) > 0 {
			if written, err := put(c, names, deepCopy(values[index][0])); err == nil {
				c = written
			}
		}
	}
	return c
}

// place is the way to a container. A list item is an empty step with the labels that may identify it.
type place struct {
	steps []string
	items [][]string
}

func (at *place) text(items []string) string {
	text := ""
	for _, step := range at.steps {
		if step == "" {
			text += items[0]
			items = items[1:]
			continue
		}
		if text != "" && !strings.HasPrefix(step, "[") {
			text += "."
		}
		text += step
	}
	return text
}

func (at *place) label() string {
	var first []string
	for _, names := range at.items {
		first = append(first, names[0])
	}
	return at.text(first)
}

func (at *place) labels() []string {
	choices := [][]string{nil}
	for _, names := range at.items {
		var longer [][]string
		for _, chosen := range choices {
			for _, name := range names {
				if len(longer) < 64 {
					longer = append(longer, append(append([]string{}, chosen...), name))
				}
			}
		}
		choices = longer
	}
	labels := make([]string, len(choices))
	for index, chosen := range choices {
		labels[index] = at.text(chosen)
	}
	return labels
}

// each is like the function, and knows the place of every container.
func (kept *preserved) each(value any, way []segment, inner []path, at *place, visit func(any, *place) (any, error)) (any, error) {
	if len(way) == 0 {
		return visit(value, at)
	}
	first, rest := way[0], way[1:]
	below := func(child any, step string, labels []string) (any, error) {
		next := &place{steps: append(append([]string{}, at.steps...), step), items: append([][]string{}, at.items...)}
		if step == "" {
			next.items = append(next.items, labels)
		}
		return kept.each(child, rest, inner, next, visit)
	}
	switch known := value.(type) {
	case map[string]any:
		var names []string
		switch first.of {
		case field:
			if _, ok := known[first.key]; ok {
				names = []string{first.key}
			}
		case values:
			for name := range known {
				names = append(names, name)
			}
			sort.Strings(names)
		}
		for _, name := range names {
			changed, err := below(known[name], quotedName(name), nil)
			if err != nil {
				return nil, fmt.Errorf("%s: %w", name, err)
			}
			known[name] = changed
		}
	case []any:
		if first.of != items {
			return value, nil
		}
		labels := kept.itemLabels(known, rest, inner)
		for index := range known {
			changed, err := below(known[index], "", labels[index])
			if err != nil {
				return nil, fmt.Errorf("[%d]: %w", index, err)
			}
			known[index] = changed
		}
	}
	return value, nil
}

// itemLabels returns what may identify each item: its keys where they are unique, and a hash of what the step leaves alone.
func (kept *preserved) itemLabels(list []any, rest []segment, inner []path) [][]string {
	labels := make([][]string, len(list))
	for _, keys := range kept.keys {
		count := map[string]int{}
		own := make([]string, len(list))
		for index, item := range list {
			if label, ok := byKeys(item, keys); ok {
				own[index] = label
				count[label]++
			}
		}
		for index, label := range own {
			if count[label] == 1 {
				labels[index] = append(labels[index], label)
			}
		}
	}
	hashes := make([]uint64, len(list))
	like, before := map[uint64]int{}, map[uint64]int{}
	for index, item := range list {
		var copied any = deepCopy(item)
		for _, names := range inner {
			copied = strip(copied, rest, names)
		}
		hash := fnv.New64a()
		hash.Write([]byte(toJSON(copied)))
		hashes[index] = hash.Sum64()
		like[hashes[index]]++
	}
	for index, hash := range hashes {
		label := fmt.Sprintf("[~%016x]", hash)
		if like[hash] > 1 {
			label = fmt.Sprintf("[~%016x %d/%d]", hash, before[hash], like[hash])
		}
		before[hash]++
		labels[index] = append(labels[index], label)
	}
	return labels
}

func byKeys(item any, keys []string) (string, bool) {
	object, ok := item.(map[string]any)
	if !ok {
		return "", false
	}
	parts := make([]string, len(keys))
	for index, key := range keys {
		switch value := object[key].(type) {
		case string, bool, int64, float64:
			parts[index] = key + "=" + toJSON(value)
		default:
			return "", false
		}
	}
	return "[" + strings.Join(parts, ",") + "]", true
}

// strip removes everything that a path below a value addresses.
func strip(value any, way []segment, names path) any {
	if len(way) == 0 {
		if len(names) == 0 {
			return nil
		}
		take(value, names)
		return value
	}
	first, rest := way[0], way[1:]
	switch known := value.(type) {
	case map[string]any:
		for name, child := range known {
			if first.of == values || first.of == field && first.key == name {
				known[name] = strip(child, rest, names)
			}
		}
	case []any:
		for index := range known {
			if first.of == items {
				known[index] = strip(known[index], rest, names)
			}
		}
	}
	return value
}

// quotedName writes a name as paths do: `["a.b"]` if it isn't plain.
func quotedName(name string) string {
	special := func(r rune) bool {
		return strings.ContainsRune(`.[]{}"\`, r) || unicode.IsSpace(r) || unicode.IsControl(r)
	}
	if name != "" && strings.IndexFunc(name, special) < 0 {
		return name
	}
	return `["` + strings.ReplaceAll(strings.ReplaceAll(name, `\`, `\\`), `"`, `\"`) + `"]`
}

func parseJSON(text string) any {
	decoder := json.NewDecoder(strings.NewReader(text))
	decoder.UseNumber()
	var value any
	if decoder.Decode(&value) != nil || decoder.More() {
		return nil
	}
	return withNumbers(value)
}

// withNumbers reads numbers as unstructured does: whole ones are int64.
func withNumbers(value any) any {
	switch known := value.(type) {
	case map[string]any:
		for name, child := range known {
			known[name] = withNumbers(child)
		}
	case []any:
		for index, child := range known {
			known[index] = withNumbers(child)
		}
	case json.Number:
		if whole, err := known.Int64(); err == nil {
			return whole
		}
		float, _ := known.Float64()
		return float
	}
	return value
}

// toJSON writes a value on one line, with sorted names.
func toJSON(value any) string {
	switch known := value.(type) {
	case map[string]any:
		names := make([]string, 0, len(known))
		for name := range known {
			names = append(names, name)
		}
		sort.Strings(names)
		parts := make([]string, len(names))
		for index, name := range names {
			parts[index] = toJSON(name) + ":" + toJSON(known[name])
		}
		return "{" + strings.Join(parts, ",") + "}"
	case []any:
		parts := make([]string, len(known))
		for index, child := range known {
			parts[index] = toJSON(child)
		}
		return "[" + strings.Join(parts, ",") + "]"
	case string:
		return quotedText(known)
	case bool:
		return strconv.FormatBool(known)
	case int64:
		return strconv.FormatInt(known, 10)
	case float64:
		return floatText(known)
	}
	return "null"
}

func quotedText(text string) string {
	short := map[rune]string{'"': `\"`, '\\': `\\`, '\b': `\b`, '\f': `\f`, '\n': `\n`, '\r': `\r`, '\t': `\t`}
	quoted := `"`
	for _, r := range text {
		if escaped, ok := short[r]; ok {
			quoted += escaped
		} else if r < ' ' {
			quoted += fmt.Sprintf(`\u%04x`, r)
		} else {
			quoted += string(r)
		}
	}
	return quoted + `"`
}

// floatText writes a number with a fraction or an exponent, so that it stays one that isn't whole.
func floatText(number float64) string {
	if math.IsNaN(number) || math.IsInf(number, 0) {
		return "null"
	}
	sign := ""
	if math.Signbit(number) {
		sign, number = "-", -number
	}
	if number == 0 {
		return sign + "0.0"
	}
	mantissa, power, _ := strings.Cut(strconv.FormatFloat(number, 'e', -1, 64), "e")
	digits := strings.Replace(mantissa, ".", "", 1)
	exponent, _ := strconv.Atoi(power)
	point := exponent + 1
	switch {
	case point >= len(digits) && point <= 16:
		return sign + digits + strings.Repeat("0", point-len(digits)) + ".0"
	case point > 0 && point <= 16:
		return sign + digits[:point] + "." + digits[point:]
	case point > -5 && point <= 0:
		return sign + "0." + strings.Repeat("0", -point) + digits
	case len(digits) > 1:
		digits = digits[:1] + "." + digits[1:]
	}
	return fmt.Sprintf("%s%se%+d", sign, digits, exponent)
}

// path names a value inside a container.
type path []string

// segment is one step on the way to the containers: a field, the items of a list, or the values of a map.
type segment struct {
	key string
	of  byte
}

const (
	field  = 'f'
	items  = 'i'
	values = 'v'
)

// conflictRule says what happens if the source and the target of a step have different values.
type conflictRule int

const (
	failOnConflict conflictRule = iota
	preferNew
	preferOld
)

var (
	errConflict = errors.New("the old and the new field have different values")
	errBlocked  = errors.New("a parent of the target is not an object")
)

// each calls visit with every container below value, and returns value with what visit made of them.
func each(value any, way []segment, visit func(any) (any, error)) (any, error) {
	if len(way) == 0 {
		return visit(value)
	}
	first, rest := way[0], way[1:]
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
			changed, err := each(known[name], rest, visit)
			if err != nil {
				return nil, fmt.Errorf("%s: %w", name, err)
			}
			known[name] = changed
		}
	case []any:
		if first.of != items {
			return value, nil
		}
		for index := range known {
			changed, err := each(known[index], rest, visit)
			if err != nil {
				return nil, fmt.Errorf("[%d]: %w", index, err)
			}
			known[index] = changed
		}
	}
	return value, nil
}

func get(container any, names path) (any, bool) {
	for _, name := range names {
		object, ok := container.(map[string]any)
		if !ok {
			return nil, false
		}
		if container, ok = object[name]; !ok {
			return nil, false
		}
	}
	return container, true
}

// take removes a value, and the parents below the container that it leaves empty.
func take(container any, names path) (any, bool) {
	object, ok := container.(map[string]any)
	if !ok || len(names) == 0 {
		return nil, false
	}
	child, ok := object[names[0]]
	if !ok {
		return nil, false
	}
	if len(names) == 1 {
		delete(object, names[0])
		return child, true
	}
	taken, ok := take(child, names[1:])
	if below, isObject := child.(map[string]any); ok && isObject && len(below) == 0 {
		delete(object, names[0])
	}
	return taken, ok
}

// put writes a value and creates missing parents; a null parent counts as missing.
func put(container any, names path, value any) (any, error) {
	if len(names) == 0 {
		return value, nil
	}
	if container == nil {
		container = map[string]any{}
	}
	object, ok := container.(map[string]any)
	if !ok {
		return nil, errBlocked
	}
	child, err := put(object[names[0]], names[1:], value)
	if err != nil {
		return nil, err
	}
	object[names[0]] = child
	return object, nil
}

// putValue puts a value where there is none; where there is another one, the conflict rule decides.
func putValue(container any, to path, value any, conflict conflictRule) (any, error) {
	if present, ok := get(container, to); ok && present != nil {
		switch {
		case reflect.DeepEqual(present, value) || conflict == preferNew:
			return container, nil
		case conflict == failOnConflict:
			return nil, errConflict
		}
	}
	return put(container, to, value)
}

// parentOf returns the object that has a field, and the name of the field.
func parentOf(container any, names path) (map[string]any, string, bool) {
	if len(names) == 0 {
		return nil, "", false
	}
	above, ok := get(container, names[:len(names)-1])
	if !ok {
		return nil, "", false
	}
	object, ok := above.(map[string]any)
	return object, names[len(names)-1], ok
}

// putIfMissing puts a value where there is none, if the parent exists; a null counts as none.
func putIfMissing(container any, names path, value any) {
	if object, name, ok := parentOf(container, names); ok && object[name] == nil {
		object[name] = value
	}
}

// changeValue changes a value, in place or on its way to another field. A change to null removes it.
func changeValue(container any, inner []path, conflict conflictRule, change func(any) (any, error)) (any, error) {
	from, to := inner[0], inner[len(inner)-1]
	value, ok := get(container, from)
	if !ok {
		return container, nil
	}
	result, err := change(value)
	if err != nil {
		return nil, err
	}
	if reflect.DeepEqual(from, to) && (value == nil || result != nil) {
		return put(container, from, result)
	}
	take(container, from)
	if result == nil && value != nil {
		return container, nil
	}
	return putValue(container, to, result, conflict)
}

func deepCopy(value any) any {
	switch known := value.(type) {
	case map[string]any:
		object := make(map[string]any, len(known))
		for name, child := range known {
			object[name] = deepCopy(child)
		}
		return object
	case []any:
		list := make([]any, len(known))
		for index, child := range known {
			list[index] = deepCopy(child)
		}
		return list
	case int:
		return int64(known)
	case int32:
		return int64(known)
	}
	return value
}

// same compares as JSON does: 1 and 1.0 are equal.
func same(a, b any) bool {
	x, isNumber := number(a)
	y, isOther := number(b)
	if isNumber && isOther {
		return x == y
	}
	return reflect.DeepEqual(a, b)
}

func number(value any) (float64, bool) {
	switch known := value.(type) {
	case int64:
		return float64(known), true
	case float64:
		return known, true
	}
	return 0, false
}

// piece is a part of a template, or the text between two parts.
type piece struct {
	text    string
	part    int
	integer bool
}
